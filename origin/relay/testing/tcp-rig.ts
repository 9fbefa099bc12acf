/** What tests of the TCP back end stand on. */
import { expect, onTestFinished } from 'vitest';
import { parseAddress } from '../../../protocol/address.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { Counters, type RelayCounters } from '../counters.ts';
import type { RelayIo } from '../io.ts';
import type { PacketBatch } from '../packet-batch.ts';
import { tcpIo } from '../tcp-io.ts';
import type { TcpLimits } from '../tcp-limits.ts';
import { check, success, transactionId } from './packets.ts';
import { ANY_PORT, eventually, ufragFor } from './rig.ts';
import { TcpEnd } from './tcp-end.ts';
import { totals } from './totals.ts';

export interface Received {
  readonly bytes: Buffer;
  readonly source: Buffer;
  readonly port: number;
  readonly socket: number;
}

export interface OpenedIo {
  readonly io: RelayIo;
  readonly received: Received[];
  readonly totals: () => RelayCounters;
}

/** Copies a batch, as its slab serves the next one soon. */
function copyOf(batch: PacketBatch): Received[] {
  return Array.from({ length: batch.count }, (_, i) => ({
    bytes: Buffer.from(batch.bytes.slice(batch.start[i], batch.end[i])),
    source: Buffer.from(batch.source.slice(i * 16, i * 16 + 16)),
    port: batch.port[i]!,
    socket: batch.socket[i]!,
  }));
}

/** The back end, with what it has received since it was started. It ends with the test. */
export async function openTcp(
  limits: Partial<TcpLimits> = {},
  listeners: readonly TrunkAddress[] = [ANY_PORT],
): Promise<OpenedIo> {
  const counters = new Counters();
  const io = await tcpIo(limits)({ listeners, trunk: ANY_PORT }, counters);
  onTestFinished(() => io.close());
  const received: Received[] = [];
  io.start((batch) => received.push(...copyOf(batch)));
  return { io, received, totals: () => totals(counters) };
}

/** A packet as it should be received. */
export function receivedFrom(
  { address, port }: TrunkAddress,
  bytes: Uint8Array,
  socket: number,
): Received {
  return {
    bytes: Buffer.from(bytes),
    source: Buffer.from(parseAddress(address)),
    port,
    socket,
  };
}

export function sendTo({ io }: OpenedIo, to: TrunkAddress, bytes: Uint8Array, listener = 0): void {
  io.sendPublic(listener, bytes, 0, bytes.length, parseAddress(to.address), 0, to.port);
}

/** A client of which a transceiver has confirmed a check. */
export async function openAnswered(opened: OpenedIo, address?: string): Promise<TcpEnd> {
  const client = await TcpEnd.open(opened.io.listeners[0]!, address);
  const already = opened.received.length;
  const id = transactionId();
  client.send(check(ufragFor(1, 5), id));
  await eventually(() => expect(opened.received).toHaveLength(already + 1));
  sendTo(opened, client.address, success(id));
  await client.next();
  return client;
}
