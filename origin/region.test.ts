/** A region's process with its real relay, transceivers and signaling; whole calls are in test/. */
import { createSocket } from 'node:dgram';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LocalRegion } from '../local/region-handle.ts';
import type { RegionConfigInput } from './region-config.ts';

/** Starting a process takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 60_000 });

const COMMAND = fileURLToPath(new URL('region.ts', import.meta.url));
const FREE = { address: '127.0.0.1', port: 0 };

const CONFIG: RegionConfigInput = {
  region: 'eu-central-1',
  cluster: 2,
  relay: { listeners: [FREE], trunk: FREE },
  peers: ['127.0.0.0/8'],
  routes: [],
  routingKeys: `A:${Buffer.alloc(16, 1).toString('base64')}`,
  signingKey: Buffer.alloc(32, 2).toString('base64'),
  signaling: FREE,
  admin: FREE,
  edge: 'http://127.0.0.1:9',
  transceivers: [
    { id: 1, trunk: FREE },
    { id: 2, trunk: FREE },
  ],
  logLevel: 'silent',
};

async function startRegion(change: Partial<RegionConfigInput> = {}): Promise<LocalRegion> {
  const region = await LocalRegion.start({ ...CONFIG, ...change });
  onTestFinished(() => region.close());
  return region;
}

/** Runs the command as an operator would, until it ends. */
function run(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [COMMAND], options, (_error, _stdout, stderr) => {
      resolve({ code: child.exitCode, stderr });
    });
  });
}

test('serves signaling, counts at its relay, and holds no session at first', async () => {
  const region = await startRegion();
  const response = await fetch(`${region.signaling}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  expect(region.relays[0]?.port).toBeGreaterThan(0);
  expect(Object.keys(await region.dump())).toEqual(['1', '2']);
  const { drops } = await region.relayCounters();
  expect(Object.values(drops).every((count) => count === 0)).toBe(true);
});

test('starts its relay anew on the same ports, with empty counters', async () => {
  const region = await startRegion();
  const [relay] = region.relays;
  const drops = async () => {
    const counters = await region.relayCounters();
    return Object.values(counters.drops).reduce((sum, count) => sum + count, 0);
  };
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  await vi.waitFor(
    async () => {
      client.send('junk', relay!.port, relay!.address);
      expect(await drops()).toBeGreaterThan(0);
    },
    { timeout: 30_000 },
  );
  await region.restartRelay();
  expect(await drops()).toBe(0);
  await vi.waitFor(
    async () => {
      client.send('junk', relay!.port, relay!.address);
      expect(await drops()).toBeGreaterThan(0);
    },
    { timeout: 30_000 },
  );
});

test('says which port is taken and leaves nothing behind', async () => {
  const taken = createSocket('udp4').bind(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address();
  const listeners = [{ address: '127.0.0.1', port }];
  await expect(startRegion({ relay: { listeners, trunk: FREE } })).rejects.toThrow(String(port));

  const region = await startRegion();
  const signaling = { address: '127.0.0.1', port: Number(new URL(region.signaling).port) };
  await expect(startRegion({ signaling })).rejects.toThrow(`${signaling.port} is taken`);
});

test('ends with 2 and says what to write when its configuration does not fit', async () => {
  const faulty = await run({ REGION_CONFIG: JSON.stringify({ ...CONFIG, cluster: 0 }) });
  expect(faulty.code).toBe(2);
  expect(faulty.stderr).toContain('cluster: ');
  const none = await run({ REGION_CONFIG: '' });
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('REGION_CONFIG');
});

test('without a parent it joins the roster by itself and ends on SIGTERM with 0', async () => {
  const config = { ...CONFIG, logLevel: 'info' };
  const env = { ...process.env, REGION_CONFIG: JSON.stringify(config) };
  const child = execFile(process.execPath, [COMMAND], { env });
  let log = '';
  child.stdout!.on('data', (text: string) => (log += text));
  // Nothing listens on port 9, so it warns, and serves all the same.
  await vi.waitFor(() => expect(log).toContain('out of the roster'), { timeout: 30_000 });
  expect(log).toContain('the region is ready');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
