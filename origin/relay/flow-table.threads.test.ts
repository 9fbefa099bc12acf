import { expect, test } from 'vitest';
import {
  LINE_ENTRIES,
  FLOW_LIMITS,
  FREE,
  HIGHEST,
  flowMemory,
  type FlowMemory,
} from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { YOUNGER } from './flow.ts';
import { steadyNow } from './moment.ts';
import {
  stressRoute,
  stressToken,
  type FlowThreadData,
  type FlowThreadResult,
} from './testing/flow-thread.ts';
import { client, token } from './testing/flows.ts';
import { runThread } from './testing/worker.ts';

const STEPS = 400_000;
const STABLE = 16;

/** Three threads at once, on two processors or more; none may see anything torn or missing. */
async function stress(memory: FlowMemory, ports: number, stable: number): Promise<void> {
  const threads = [1, 2, 3].map((seed) => {
    const data: FlowThreadData = { memory, steps: STEPS, seed, ports, stable, sweeps: seed === 1 };
    return runThread<FlowThreadResult>('./flow-thread.ts', data);
  });
  const results = await Promise.all(threads);
  const sum = (count: keyof FlowThreadResult): number =>
    results.reduce((total, result) => total + result[count], 0);
  expect([sum('torn'), sum('lost')]).toEqual([0, 0]);
  for (const count of ['sound', 'proven', 'moved'] as const) expect(sum(count)).toBeGreaterThan(0);
}

/** Ends all flows; what then is left in memory was lost count of. */
function expectClean(memory: FlowMemory): void {
  const table = new FlowTable(memory);
  table.expire(steadyNow() + 10 * memory.limits.idle);
  expect([table.tentative, table.proven]).toEqual([0, 0]);
  const { lines, sources, tokens } = memory;
  for (const part of [lines, sources.counts, sources.lists, tokens.counts, tokens.lists]) {
    expect(new Int32Array(part).every((word) => word === 0)).toBe(true);
  }
  const control = new Int32Array(memory.control, 0, LINE_ENTRIES);
  const flows = new Int32Array(memory.flows);
  const free = new Set<number>();
  for (let place = control[FREE]!; place !== 0; place = flows[place + YOUNGER]!) free.add(place);
  expect(free.size).toBe(control[HIGHEST]);
}

test('threads at work on one full table read nothing torn, and lose count of nothing', async () => {
  const limits = { ...FLOW_LIMITS, maxFlows: 64, maxTentative: 32, tentative: 3, idle: 50 };
  const memory = flowMemory({ ...limits, tokenQuiet: 0, maxPerToken: 1000 });
  await stress(memory, 200, 0);
  const table = new FlowTable(memory);
  expect(table.proven + table.tentative).toBeLessThanOrEqual(limits.maxFlows);
  expect(table.evicted).toBeGreaterThan(0);
  expectClean(memory);
}, 300_000);

test('a live flow is found by every lookup, whatever others do beside it', async () => {
  const limits = { ...FLOW_LIMITS, maxFlows: 1000, tentative: 3, tokenQuiet: 0, idle: 300_000 };
  const memory = flowMemory({ ...limits, maxPerToken: 1000 });
  const table = new FlowTable(memory);
  const ports = 60;
  for (let port = ports + 1; port <= ports + STABLE; port++) {
    const n = stressToken(port, 0);
    table.restore(client(port), 0, stressRoute(n), token(n), steadyNow());
  }
  await stress(memory, ports, STABLE);
  expect(table.evicted).toBe(0);
  expect(table.expired).toBeGreaterThan(ports);
  expectClean(memory);
}, 300_000);
