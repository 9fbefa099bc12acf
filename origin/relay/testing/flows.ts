/** Flows as tests make them, without packets: headers, tokens, checks and answers. */
import type { Route } from '../../../protocol/ufrag.ts';
import { FLOW_LIMITS, flowMemory, type FlowLimits } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import type { Moment } from '../moment.ts';
import type { FlowChange } from '../repointing.ts';
import { makeFrame, transactionId, type Frame } from './packets.ts';

/** The latest that a flow can note. */
export const FOREVER = 0xff_ff_ff_ff * 1000;

export function header(fields: Partial<Frame> = {}): Buffer {
  return makeFrame({
    flags: 0,
    listener: 0,
    client: { address: '192.0.2.1', port: 1000 },
    proxy: { address: '10.0.0.1', port: 4000 },
    payload: Buffer.from('x'),
    ...fields,
  });
}

/** The header of a client's packets. */
export function client(port: number, address = '192.0.2.1'): Buffer {
  return header({ client: { address, port } });
}

/** The bytes of one of many tokens; each leads to the transceiver of its number. */
export function token(n: number): Buffer {
  return Buffer.from(`${String(n).padStart(23, 'A')}:client`);
}

export function routeOf(n: number, expiresAt = FOREVER): Route {
  return { cluster: 1, transceiver: n & 0xffff, expiresAt };
}

export function smallTable(limits: Partial<FlowLimits> = {}): FlowTable {
  return new FlowTable(flowMemory({ ...FLOW_LIMITS, maxFlows: 100, ...limits }));
}

/** A moment at which both clocks show the same. */
export function moment(now: number): Moment {
  return { wall: now, steady: now };
}

/** A check with token `n`, and what came of it. */
export function ask(table: FlowTable, of: Buffer, n: number, now: number, id = transactionId()) {
  const refusal = table.check(of, 0, routeOf(n), token(n), id, now);
  return { refusal, answer: (at = now) => table.answer(of, 0, id, moment(at)) };
}

/** A check with token `n` that is answered at once. */
export function prove(
  table: FlowTable,
  of: Buffer,
  n: number,
  now: number,
): FlowChange | undefined {
  return ask(table, of, n, now).answer();
}

/** What a packet of the client would find; undefined when there is no flow. */
export function lookUp(table: FlowTable, of: Buffer, now: number, n?: number) {
  if (!table.find(of, 0, now, n === undefined ? undefined : token(n))) return undefined;
  return { ...table.found };
}

/** The ports that have a flow, of the given ones. */
export function portsOf(table: FlowTable, ports: number[], now: number): number[] {
  return ports.filter((port) => table.find(client(port), 0, now));
}
