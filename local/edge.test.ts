/** The edge's process with the real Worker; what the Worker does is tested beside it. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { descendants, isAlive } from '../test/support/processes.ts';
import { startChild } from './child.ts';
import { EDGE_OPTIONS_VARIABLE, edgeEnvironment, type EdgeOptions } from './edge-options.ts';
import type { EdgeService } from './edge-process.ts';
import { choosePorts } from './ports.ts';

/** Starting a Worker takes many seconds on a busy machine. */
vi.setConfig({ testTimeout: 90_000 });

const CONFIG_PATH = fileURLToPath(new URL('../wrangler.toml', import.meta.url));
const SECRETS = {
  ROUTING_KEYS: `L:${Buffer.alloc(16, 1).toString('base64')}`,
  SIGNING_KEY: Buffer.alloc(32, 2).toString('base64'),
  CLIENT_SECRET_KEYS: `L:${Buffer.alloc(32, 3).toString('base64')}`,
};

const STEERING: EdgeOptions['steering'] = { version: 1, clusters: [] };

interface EdgeStart extends Partial<Pick<EdgeOptions, 'configPath' | 'logRequests'>> {
  readonly onErrorLine?: (line: string) => void;
}

async function startEdge(port: number, start: EdgeStart = {}) {
  const { configPath = CONFIG_PATH, logRequests, onErrorLine } = start;
  const options = { configPath, port, secrets: SECRETS, steering: STEERING, tenants: {} };
  const { child, ready } = await startChild<EdgeService>({
    name: 'edge',
    module: new URL('edge-process.ts', import.meta.url),
    env: edgeEnvironment({ ...options, logRequests }),
    ...(onErrorLine && { onErrorLine }),
  });
  onTestFinished(() => child.close());
  return { child, url: ready };
}

test('killed from outside, it leaves no workerd, and its keys were in no environment but its own', async () => {
  const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
  const { child, url } = await startEdge(port!);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const [, ...started] = await descendants(child.pid);
  expect(started.length).toBeGreaterThanOrEqual(2);
  for (const pid of existsSync('/proc/self/environ') ? started : []) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain(EDGE_OPTIONS_VARIABLE);
  }
  process.kill(child.pid, 'SIGKILL');
  await vi.waitFor(() => expect(started.filter(isAlive)).toEqual([]), { timeout: 30_000 });
});

test.each([true, false])('tells of requests where that is asked for: %s', async (logRequests) => {
  const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
  const lines: string[] = [];
  const onErrorLine = (line: string) => void lines.push(line);
  const { child, url } = await startEdge(port!, { logRequests, onErrorLine });
  for (const path of ['/nowhere', '/v1/where']) {
    await fetch(url + path, { headers: { 'x-request-id': `asked-${path.length}` } });
  }
  await child.close();
  const told = lines.filter((line) => line.includes("requestId: 'asked-8'"));
  expect(told.length).toBe(logRequests ? 1 : 0);
});

test('says that its port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address!.port : 0;
  await expect(startEdge(port)).rejects.toThrow(
    `edge cannot start: Address already in use (127.0.0.1:${port})`,
  );
});

test.each([
  ['its Worker has a fault', 'export default {', 'index.ts:1:16: ERROR'],
  ['the folder for its build cannot be made', undefined, '.wrangler'],
])('says that %s', async (_what, source, reason) => {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = join(folder, 'wrangler.toml');
  await writeFile(
    config,
    'name = "faulty"\nmain = "index.ts"\ncompatibility_date = "2026-01-01"\n',
  );
  await writeFile(join(folder, 'index.ts'), source ?? 'export default {};');
  // A file where wrangler wants a folder stops it for every user, as a read-only disk does.
  if (source === undefined) await writeFile(join(folder, '.wrangler'), '');
  const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
  await expect(startEdge(port!, { configPath: config })).rejects.toThrow(reason);
});
