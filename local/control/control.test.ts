/** Who may ask the local control, and what it does. The region and the edge here only say what they were asked. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startControl, type Control } from './control.ts';

const REGION = 'eu-central-1';
const KILL = `/relays/${REGION}/kill`;
const DRAINED = `/drained/${REGION}`;

let edgePort: number;
let control: Control;
let page: string;
const done: string[] = [];

const edge = createServer((asked, response) => {
  done.push(`${asked.method} ${asked.url} ${asked.headers.authorization}`);
  response.setHeader('content-type', 'application/json').end('{"drained":true}');
});

async function killRelay() {
  done.push('killed');
  return { killed: 1, started: 2, ms: 3 };
}

beforeAll(async () => {
  await once(edge.listen(0, '127.0.0.1'), 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is no path
  edgePort = (edge.address() as AddressInfo).port;
  page = `http://127.0.0.1:${edgePort}`;
  control = await startControl({
    edgePort,
    regions: new Map([[REGION, { killRelay }]]),
    clusters: new Map([[REGION, 2]]),
    adminKey: 'key',
  });
});
beforeEach(() => void done.splice(0));
afterAll(async () => {
  await control.close();
  edge.close();
});

/** With any Host, which `fetch` would not send. */
async function ask(method: string, path: string, headers: Record<string, string>) {
  const asked = request(control.url + path, { method, headers });
  asked.end();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `response` is emitted with
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test('the page may kill a relay, by both names of this machine', async () => {
  for (const origin of [page, `http://localhost:${edgePort}`]) {
    const { status, body, headers } = await ask('POST', KILL, { origin });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ killed: 1, started: 2, ms: 3 });
    expect(headers['access-control-allow-origin']).toBe(origin);
  }
  expect(done).toEqual(['killed', 'killed']);
});

test('the page may drain a region and put it back', async () => {
  const preflight = { origin: page, 'access-control-request-method': 'PUT' };
  const allowed = await ask('OPTIONS', DRAINED, preflight);
  expect(allowed.headers['access-control-allow-methods']).toContain('PUT');
  for (const method of ['PUT', 'DELETE']) {
    expect((await ask(method, DRAINED, { origin: page })).status).toBe(200);
  }
  const asked = '/admin/clusters/2/drain Bearer key';
  expect(done).toEqual([`PUT ${asked}`, `DELETE ${asked}`]);
});

test.each([
  ['another site', () => ({ origin: 'https://evil.example' })],
  ['another port of this machine', () => ({ origin: `http://127.0.0.1:${edgePort + 1}` })],
  ['a page in a sandbox', () => ({ origin: 'null' })],
  ['a form or a link, which say no origin', () => ({})],
  [
    'a site whose name has come to mean 127.0.0.1',
    () => ({ origin: `http://evil.example:${edgePort}`, host: `evil.example:${edgePort}` }),
  ],
  [
    'a site that asks the control itself by such a name',
    () => ({ origin: page, host: `evil.example:${new URL(control.url).port}` }),
  ],
])('%s may nothing, and reads nothing', async (_, headersOf: () => Record<string, string>) => {
  for (const [method, path] of [
    ['POST', KILL],
    ['PUT', DRAINED],
    ['DELETE', DRAINED],
    ['OPTIONS', DRAINED],
    ['GET', '/'],
  ] as const) {
    const { status, headers } = await ask(method, path, headersOf());
    expect(status).toBe(403);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
  expect(done).toEqual([]);
});

test('what it does not know is a 404', async () => {
  for (const [method, path] of [
    ['POST', '/relays/mars-1/kill'],
    ['PUT', '/drained/mars-1'],
    ['GET', KILL],
  ] as const) {
    expect((await ask(method, path, { origin: page })).status).toBe(404);
  }
  expect(done).toEqual([]);
});
