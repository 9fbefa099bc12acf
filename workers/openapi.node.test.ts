import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { app } from './app.ts';
import { OPENAPI_FILE, openApiDocument, openApiText } from './openapi.ts';

/** For transceivers, not for clients. */
const INTERNAL = /^\/v1\/roster\/|^\/admin\b/;

it('is served as it is made', async () => {
  const committed = await readFile(OPENAPI_FILE, 'utf8');
  expect(committed, 'run `node workers/openapi.ts`').toBe(await openApiText());
});

it('describes the routes that there are, and no others', () => {
  const described = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = app.routes
    .filter(({ method, path }) => method !== 'ALL' && !INTERNAL.test(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(described.toSorted()).toEqual([...new Set(routes)].toSorted());
});

it('refers to schemas that it has', () => {
  const { schemas } = openApiDocument().components;
  const text = JSON.stringify(openApiDocument());
  const referred = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  );
  expect(referred).toEqual(expect.arrayContaining(['Problem', 'OpenAiError', 'Session']));
  for (const name of referred) expect(schemas).toHaveProperty(name!);
});

it('asks who it is from wherever a request may be refused for that, and nowhere else', () => {
  const { paths, security } = openApiDocument();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (method === 'parameters') continue;
      const { security: asked = security, responses } = { security: undefined, ...operation };
      expect(asked.length > 0, `${method} ${path}`).toBe('401' in responses);
    }
  }
});
