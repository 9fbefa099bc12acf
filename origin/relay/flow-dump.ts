/** Flows as text, for people who look into a relay. */
import { setImmediate as turn } from 'node:timers/promises';
import { formatAddress } from '../../protocol/address.ts';
import { FlowStore, stateOf } from './flow-store.ts';
import { KEY_WORDS } from './flow-key.ts';
import { HIGHEST, type FlowMemory } from './flow-memory.ts';
import {
  CREATED_AT,
  EXPIRY,
  FLOW_WORDS,
  FREE_STATE,
  PROVEN,
  SEAL,
  SEEN_AT,
  TARGET,
  TOKEN_HASH,
  clock32,
  elapsed,
  sealOf,
} from './flow.ts';
import { steadyNow } from './moment.ts';
import { clusterOf, expiresAtOf, transceiverOf } from './token-route.ts';

/** Flows looked at between two turns of the event loop. */
const SLICE = 16_384;

/** Words of a key: the listener, then as a trunk header has them, client, proxy and their ports. */
const CLIENT_BYTE = 4;
const PROXY_BYTE = 20;
const PORTS_BYTE = 36;

/** Plain JSON. */
export interface DumpedFlow {
  /** `ADDRESS:PORT`, an IPv6 address in brackets. */
  readonly client: string;
  readonly listener: number;
  /** The relay that holds the client. */
  readonly proxy: string;
  readonly cluster: number;
  readonly transceiver: number;
  readonly state: 'tentative' | 'proven';
  /** Milliseconds since the flow came into being here, and since its last packet from the client. */
  readonly ageMs: number;
  readonly idleMs: number;
  /** End of the token, in ISO 8601. */
  readonly expiresAt: string;
}

export interface FlowDumpOptions {
  /** Flows at most. */
  readonly limit: number;
  /** 16 bytes; flows of every client unless given. */
  readonly client?: Uint8Array | undefined;
}

/** The newest flows, newest first. Forwarding goes on meanwhile. */
export async function dumpFlows(
  memory: FlowMemory,
  { limit, client }: FlowDumpOptions,
): Promise<DumpedFlow[]> {
  const store = new FlowStore(memory);
  const newest: DumpedFlow[] = [];
  for (let number = 1; number <= store.control[HIGHEST]!; number++) {
    if (number % SLICE === 0) await turn();
    const place = number * FLOW_WORDS;
    if (client && !hasClient(store.flows, place, client)) continue;
    const now32 = clock32(steadyNow());
    const age = elapsed(now32, store.flows[place + CREATED_AT]!);
    const last = newest.at(limit - 1);
    if (last && age >= last.ageMs) continue;
    const flow = readFlow(store, place, now32);
    if (!flow) continue;
    const older = newest.findIndex(({ ageMs }) => ageMs > flow.ageMs);
    newest.splice(older < 0 ? newest.length : older, 0, flow);
    if (newest.length > limit) newest.pop();
  }
  return newest;
}

/** Undefined where no flow is, or a thread is just changing it. */
function readFlow(store: FlowStore, place: number, now32: number): DumpedFlow | undefined {
  const words = store.flows.slice(place, place + FLOW_WORDS);
  const state = stateOf(words, 0);
  if (state === FREE_STATE || store.isOver(place, now32)) return undefined;
  const target = words[TARGET]!;
  const expiry = words[EXPIRY]!;
  const keyHash = store.keyed.words(words, 0, KEY_WORDS);
  if (words[SEAL] !== sealOf(keyHash, target, expiry, words[TOKEN_HASH]!)) return undefined;
  const bytes = new Uint8Array(words.buffer);
  const view = new DataView(words.buffer);
  return {
    client: endpoint(bytes, CLIENT_BYTE, view.getUint16(PORTS_BYTE)),
    listener: words[0]!,
    proxy: endpoint(bytes, PROXY_BYTE, view.getUint16(PORTS_BYTE + 2)),
    cluster: clusterOf(target),
    transceiver: transceiverOf(target),
    state: state === PROVEN ? 'proven' : 'tentative',
    ageMs: elapsed(now32, words[CREATED_AT]!),
    idleMs: elapsed(now32, words[SEEN_AT]!),
    expiresAt: new Date(expiresAtOf(expiry)).toISOString(),
  };
}

function hasClient(flows: Int32Array, place: number, client: Uint8Array): boolean {
  for (let i = 0; i < client.length; i++) {
    const byte = (flows[place + CLIENT_BYTE / 4 + (i >> 2)]! >>> ((i & 3) * 8)) & 0xff;
    if (byte !== client[i]) return false;
  }
  return true;
}

function endpoint(bytes: Uint8Array, at: number, port: number): string {
  const address = formatAddress(bytes, at);
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
