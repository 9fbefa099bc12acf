import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { readFootprint } from '../origin/footprint-files.ts';
import { planStack, type PlanOptions } from './plan.ts';
import { choosePorts, LOOPBACK } from './ports.ts';

const OPTIONS: PlanOptions = {
  footprint: await readFootprint(new URL('../regions', import.meta.url).pathname),
  ports: 'free',
  backend: 'echo',
  logLevel: 'warn',
  transceiversOf: () => 1,
};

test('what takes any free port says nothing of taken ones', async () => {
  const { moved } = await planStack(OPTIONS);
  expect(moved).toEqual({});
});

test('a documented port that is taken is named with the one that stands in', async () => {
  // Someone else may hold it already, which is as good here.
  const server = createServer().listen(3490, LOOPBACK);
  const settled = await Promise.race([once(server, 'listening'), once(server, 'error')]);
  expect(settled).toBeDefined();
  onTestFinished(() => void server.close());
  const { moved, regions } = await planStack({ ...OPTIONS, ports: 'usual' });
  const { signaling } = regions.find(({ region }) => region === 'eu-central-1')!;
  expect(moved['eu-central-1']).toContain(`signaling port 3490 is taken; using ${signaling.port}`);
});

test('the edge has the port that is asked for, or there is no plan', async () => {
  const { edgePort } = await choosePorts({ edgePort: { protocol: 'tcp' } });
  const plan = await planStack({ ...OPTIONS, ports: 'usual', edgePort: edgePort! });
  expect([plan.edgePort, plan.moved.edge]).toEqual([edgePort, undefined]);

  const server = createServer().listen(edgePort, LOOPBACK);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await expect(planStack({ ...OPTIONS, edgePort: edgePort! })).rejects.toThrow(`${edgePort}`);
});

test('keys that are given are everywhere, and others are refused before anything starts', async () => {
  const routingKeys = `A:${Buffer.alloc(16, 'given').toString('base64')}`;
  const plan = await planStack({ ...OPTIONS, routingKeys });
  const used = [plan, ...plan.regions].map((part) => part.routingKeys);
  expect(new Set(used)).toEqual(new Set([routingKeys]));
  await expect(planStack({ ...OPTIONS, routingKeys: 'A:short' })).rejects.toThrow('openssl rand');
});
