/** What the relay's tests stand on: relays on loopback, and ends that close when the test is over. */
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { STUN_HEADER_LENGTH } from '../../../protocol/stun.ts';
import { MemoryDirectory } from '../../directory.ts';
import { startRelay, type Relay, type RelayOptions } from '../relay.ts';
import { check, success, transactionId } from './packets.ts';
import { KEY } from './tokens.ts';
import { UdpEnd } from './udp-end.ts';

export { HOUR, KEY, ufragFor } from './tokens.ts';

export const ANY_PORT: TrunkAddress = { address: '127.0.0.1', port: 0 };
export const SILENT = pino({ level: 'silent' });

/** Set by a project of vitest.config.ts, which runs the relay’s tests over the portable back end too. */
const IO = process.env.RELAY_IO === 'dgram' ? 'dgram' : undefined;

/** Milliseconds after which a condition counts as never met, however slow the machine. */
const NEVER = 60_000;

/** Waits until `condition` no longer throws. */
export async function eventually(condition: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(condition, { timeout: NEVER, interval: 10 });
}

export async function openEnd(address?: string): Promise<UdpEnd> {
  const end = await UdpEnd.open(address);
  onTestFinished(() => end.close());
  return end;
}

/** A relay of cluster 1 unless told otherwise, with loopback as its peers. */
export async function openRelay(options: Partial<RelayOptions> = {}): Promise<Relay> {
  const relay = await startRelay({
    cluster: 1,
    listeners: [ANY_PORT],
    trunk: ANY_PORT,
    peers: ['127.0.0.0/8'],
    routes: [],
    routingKeys: [KEY],
    transceivers: new MemoryDirectory(),
    log: SILENT,
    io: IO,
    ...options,
  });
  onTestFinished(() => relay.close());
  return relay;
}

/** A directory, and the transceivers in it by their ids. */
export async function openTransceivers(...ids: number[]) {
  const transceivers = new MemoryDirectory();
  const byId = new Map<number, UdpEnd>();
  for (const id of ids) {
    const end = await openEnd();
    transceivers.add(id, end.address);
    byId.set(id, end);
  }
  return { transceivers, ends: (id: number): UdpEnd => byId.get(id)! };
}

/** A check and its answer: afterwards the client has a proven flow. */
export async function prove(
  client: UdpEnd,
  relay: Relay,
  transceiver: UdpEnd,
  ufrag: string,
): Promise<void> {
  const id = transactionId();
  client.send(check(ufrag, id), relay.listeners[0]!);
  await transceiver.answerNext(() => success(id));
  await client.next();
}

/** The transaction id of a STUN message. */
export function idOf(message: Uint8Array): Uint8Array {
  return message.subarray(8, STUN_HEADER_LENGTH);
}
