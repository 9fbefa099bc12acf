import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { readTransceiverConfig, type TransceiverConfigInput } from './transceiver-config.ts';

const KEY = Buffer.alloc(32, 2).toString('base64');
const at = (port: number) => ({ address: '10.0.0.1', port });
const CONFIG: TransceiverConfigInput = {
  cluster: 2,
  id: 100,
  trunk: at(4_000),
  peers: ['10.0.0.0/8'],
  routingKeys: `A:${Buffer.alloc(16, 1).toString('base64')}`,
  signingKey: KEY,
  signaling: at(8_000),
  edge: 'https://edge.example',
};

function read(index: string | undefined, changes: object = {}) {
  const text = JSON.stringify({ ...CONFIG, ...changes });
  return readTransceiverConfig([], { TRANSCEIVER_CONFIG: text, TRANSCEIVER_INDEX: index });
}

test('the first process has the id and the ports as they are written', async () => {
  for (const index of [undefined, '', '0']) {
    const config = await read(index);
    expect(config).toMatchObject({ id: 100, trunk: at(4_000), signaling: at(8_000) });
    expect(config).toMatchObject({ capacity: 200, drain: 300_000 });
  }
});

test('each further one adds its index, but to port 0', async () => {
  const config = await read('3', { admin: at(0), limits: { idle: 5 } });
  expect(config).toMatchObject({ id: 103, trunk: at(4_003), signaling: at(8_003), admin: at(0) });
  expect(config.limits).toEqual({ setup: 15_000, idle: 5, length: 7_200_000 });
});

test.each([
  ['-1', {}, 'TRANSCEIVER_INDEX'],
  ['two', {}, 'TRANSCEIVER_INDEX'],
  ['1024', {}, 'TRANSCEIVER_INDEX'],
  ['1', { id: 65_535 }, 'id 65535'],
  ['1', { trunk: at(65_535) }, 'port 65535'],
  ['0', { capacity: 0 }, 'capacity: '],
  ['0', { drain: -1 }, 'drain: '],
  ['0', { limits: { setup: 1.5 } }, 'limits.setup: '],
  ['0', { signingKey: 'short' }, 'signingKey: '],
  ['0', { backEnd: 'echo' }, 'backEnd: '],
] as const)('index %s with %j is refused, and no key is shown', async (index, changes, what) => {
  const failed: unknown = await read(index, changes).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ConfigError);
  expect(String(failed)).toContain(what);
  expect(String(failed)).not.toContain(KEY);
});
