import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { parseRegionConfig, readRegionConfig, type RegionConfigInput } from './region-config.ts';

const ROUTING_KEY = Buffer.alloc(16, 7).toString('base64');
const SIGNING_KEY = Buffer.alloc(32, 8).toString('base64');
const CONFIG: RegionConfigInput = {
  region: 'eu-central-1',
  cluster: 2,
  relay: {
    listeners: [{ address: '127.0.0.1', port: 3478 }],
    trunk: { address: '127.0.0.1', port: 3479 },
  },
  peers: ['127.0.0.0/8', '::1/128'],
  routes: [{ cluster: 1, region: 'us-east-1', relays: [{ address: '127.0.0.1', port: 4479 }] }],
  routingKeys: `A:${ROUTING_KEY}`,
  signingKey: SIGNING_KEY,
  signaling: { address: '127.0.0.1', port: 0 },
  edge: 'http://127.0.0.1:8787',
  transceivers: [{ id: 1, trunk: { address: '127.0.0.1', port: 0 } }],
};

function faultOf(change: Record<string, unknown>): string {
  try {
    parseRegionConfig(JSON.stringify({ ...CONFIG, ...change }));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('a region configuration', () => {
  test('is read with its defaults', () => {
    const config = parseRegionConfig(JSON.stringify(CONFIG));
    expect(config.backend).toBe('echo');
    expect(config.logLevel).toBe('info');
    expect(config.transceivers[0]?.capacity).toBe(200);
  });

  test('may have TCP listeners, with a trunk', () => {
    const tcp = { listeners: CONFIG.relay.listeners, trunk: { address: '127.0.0.1', port: 3477 } };
    expect(faultOf({ relay: { ...CONFIG.relay, tcp } })).toBe('no fault');
    expect(faultOf({ relay: { ...CONFIG.relay, tcp: { ...tcp, listeners: [] } } })).toContain(
      '\n  relay.tcp.listeners: ',
    );
  });

  test('may have a Redis, whose password no error shows', () => {
    expect(faultOf({ redis: 'redis://:swordfish@redis.example:6379/1' })).toBe('no fault');
    expect(faultOf({ redis: ['redis://:swordfish@redis.example'] })).not.toContain('swordfish');
    expect(faultOf({ redis: 'redi://:swordfish@redis.example' })).not.toContain('swordfish');
  });

  test('may have no transceiver', () => {
    expect(faultOf({ transceivers: [] })).toBe('no fault');
  });

  test.each([
    [{ cluster: 0 }, 'cluster: '],
    [{ peers: ['127.0.0.1'] }, 'peers.0: is not a network'],
    [{ relay: { ...CONFIG.relay, listeners: [] } }, 'relay.listeners: '],
    [
      { relay: { ...CONFIG.relay, trunk: { address: 'localhost', port: 1 } } },
      'relay.trunk.address: ',
    ],
    [{ redis: 'redis.example' }, 'redis: is not a URL of a Redis'],
    [{ redis: 'https://redis.example' }, 'redis: is not a URL of a Redis'],
    [{ edge: 'nowhere' }, 'edge: give an http or https URL'],
    [{ edge: 'ftp://edge.example' }, 'edge: give an http or https URL'],
    [{ edge: 'https://me:secret@edge.example' }, 'edge: give an http or https URL without cred'],
    [{ edge: 'https://edge.example#top' }, 'edge: give an http or https URL'],
    [{ surprise: 1 }, 'surprise: '],
    [{ backend: 'human' }, 'backend: '],
    [{ routingKeys: 'A:short' }, 'routingKeys: A routing key is'],
    [{ signingKey: 'short' }, 'signingKey: A signing key is 32 bytes'],
    [{ transceivers: [CONFIG.transceivers[0], CONFIG.transceivers[0]] }, 'transceivers: has two'],
  ])('names the fault in %j', (change, fault) => {
    expect(faultOf(change)).toContain(`\n  ${fault}`);
  });

  test('never shows a key in an error', () => {
    const notText = faultOf({ routingKeys: [ROUTING_KEY], signingKey: { key: SIGNING_KEY } });
    expect(notText).toContain('routingKeys');
    expect(() => parseRegionConfig(`{"signingKey":"${SIGNING_KEY}`)).toThrow(ConfigError);
    for (const text of [notText, faultOf({ routingKeys: `AA:${ROUTING_KEY}` })]) {
      expect(text).not.toContain(ROUTING_KEY);
      expect(text).not.toContain(SIGNING_KEY);
    }
  });

  test('gives one kind of error whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => parseRegionConfig(text)).toThrow(ConfigError);
      }),
    );
  });
});

describe('where it comes from', () => {
  test('the environment', async () => {
    const config = await readRegionConfig([], { REGION_CONFIG: JSON.stringify(CONFIG) });
    expect(config.region).toBe('eu-central-1');
  });

  test('a file, which comes before the environment', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'region-config-'));
    const path = join(directory, 'region.json');
    await writeFile(path, JSON.stringify({ ...CONFIG, region: 'from-file' }));
    const config = await readRegionConfig([path], { REGION_CONFIG: JSON.stringify(CONFIG) });
    expect(config.region).toBe('from-file');
    await rm(directory, { recursive: true });
  });

  test('nowhere, and says what to give', async () => {
    await expect(readRegionConfig([], {})).rejects.toThrow('or its JSON in REGION_CONFIG');
    await expect(readRegionConfig(['/no/such/file'], {})).rejects.toThrow('cannot be read');
    await expect(readRegionConfig(['a', 'b'], {})).rejects.toThrow('no more');
  });
});
