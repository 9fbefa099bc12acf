import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { Project, REAL_PROVIDERS } from './project.ts';
import { PROVIDERS, readSlice, slice, usedTypes } from './slice-schemas.ts';

describeWith(TERRAFORM, 'the files in terraform/', () => {
  let project: Project;

  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test('are formatted', async () => {
    expect(await project.mustRun('fmt', '-check', '-recursive')).toBe('');
  });

  test('are valid', async () => {
    expect(await project.mustRun('validate')).toContain('The configuration is valid');
  });

  test('pass their own tests', async () => {
    expect(await project.mustRun('test')).toContain(', 0 failed');
  });
});

test('the schemas are those of the types in use, as slice-schemas.ts makes them', async () => {
  const { resource, data } = await usedTypes();
  const slices = await Promise.all(PROVIDERS.map(readSlice));
  const kept = (kind: 'resource_schemas' | 'data_source_schemas') =>
    slices.flatMap((schemas) => Object.keys(schemas[kind])).toSorted();
  expect(kept('resource_schemas')).toEqual([...resource].toSorted());
  expect(kept('data_source_schemas')).toEqual([...data].toSorted());
});

test.each(PROVIDERS)(
  'the schemas of %s are of no later version than terraform/ asks for',
  async (provider) => {
    const versions = await readFile(
      new URL('../../terraform/versions.tf', import.meta.url),
      'utf8',
    );
    const { provider_version } = await readSlice(provider);
    const constraint = new RegExp(`${provider}\\s*= \\{[^}]*version = "~> (\\d+)\\.(\\d+)"`).exec(
      versions,
    );
    const [major, minor] = provider_version.split('.').map(Number);
    expect(Number(constraint?.[1])).toBe(major);
    expect(Number(constraint?.[2])).toBeGreaterThanOrEqual(minor!);
  },
);

test.each(REAL_PROVIDERS ? PROVIDERS : [])(
  'the schemas of %s are those of the real provider',
  { timeout: 600_000 },
  async (provider) => {
    await using project = await Project.create();
    const full = JSON.parse(await project.mustRun('providers', 'schema', '-json'));
    const { resource_schemas, data_source_schemas } = await readSlice(provider);
    const real = slice(full, provider, await usedTypes());
    expect(real).toMatchObject({ resource_schemas, data_source_schemas });
  },
);
