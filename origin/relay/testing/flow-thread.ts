/**
 * A thread that does all that relay threads do with a flow table, to some clients, and watches that what
 * it reads belongs together: each client has tokens of its own, and each token's route is its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Route } from '../../../protocol/ufrag.ts';
import type { FlowMemory } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { Clock } from '../moment.ts';
import { client, token } from './flows.ts';

export interface FlowThreadData {
  readonly memory: FlowMemory;
  readonly steps: number;
  readonly seed: number;
  /** Clients come and go on ports from 1 up to this; those on even ones are never answered. */
  readonly ports: number;
  /** Ports above, whose flows are proven and must be found every time. */
  readonly stable: number;
  /** Whether this thread gives places back. */
  readonly sweeps: boolean;
}

export interface FlowThreadResult {
  /** Lookups that found a flow with words of its own alone. */
  readonly sound: number;
  readonly torn: number;
  readonly lost: number;
  readonly proven: number;
  readonly moved: number;
}

export const TOKENS_PER_PORT = 3;

/** Every field differs between tokens. */
export function stressRoute(n: number): Route {
  return {
    cluster: 1 + (Math.imul(n, 7919) & 0x7fff),
    transceiver: Math.imul(n, 104_729) & 0xffff,
    expiresAt: (2_000_000_000 + n * 1009) * 1000,
  };
}

/** The token of a port by its number among them. */
export function stressToken(port: number, which: number): number {
  return port * TOKENS_PER_PORT + which;
}

function isRouteOf(found: Route, n: number): boolean {
  const { cluster, transceiver, expiresAt } = stressRoute(n);
  return (
    found.cluster === cluster && found.transceiver === transceiver && found.expiresAt === expiresAt
  );
}

function work({ memory, steps, seed, ports, stable, sweeps }: FlowThreadData): FlowThreadResult {
  const table = new FlowTable(memory);
  const clock = new Clock();
  const { found } = table;
  const all = ports + stable;
  const headers = Array.from({ length: all + 1 }, (_, port) => client(port));
  const tokens = Array.from({ length: stressToken(all + 1, 0) }, (_, n) => token(n));
  const ids = Array.from({ length: 4 }, (_, i) => Buffer.alloc(12, i + 1));
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let [sound, torn, lost, proven, moved] = [0, 0, 0, 0, 0];

  for (let step = 0; step < steps; step++) {
    const moment = clock.read();
    const now = moment.steady;
    const port = 1 + random(all);
    const which = random(TOKENS_PER_PORT);
    const header = headers[port]!;
    const n = stressToken(port, which);
    if (table.find(header, 0, now, tokens[n])) {
      const candidates = found.hasToken
        ? [n]
        : Array.from({ length: TOKENS_PER_PORT }, (_, i) => stressToken(port, i));
      if (candidates.some((one) => isRouteOf(found, one))) sound++;
      else torn++;
      table.touch(now);
    } else if (port > ports) {
      lost++;
    }
    const action = random(8);
    const id = ids[random(ids.length)]!;
    if (action <= 2) {
      table.check(header, 0, stressRoute(n), tokens[n]!, id, now);
    } else if (action <= 4 && port % 2 === 1) {
      const change = table.answer(header, 0, id, moment);
      if (change === 'proven') proven++;
      if (change === 'moved') moved++;
    } else if (action === 5 && port % 2 === 1 && random(50) === 0) {
      table.restore(header, 0, stressRoute(n), tokens[n]!, now);
    }
    if (sweeps && step % 64 === 0) table.expire(now);
  }
  return { sound, torn, lost, proven, moved };
}

const data: FlowThreadData = workerData;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
parentPort?.postMessage(work(data));
