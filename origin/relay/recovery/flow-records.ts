/**
 * What Redis keeps of a flow: its token, which holds the route, sealed. It is signed and bound to the
 * flow, so that whoever writes to Redis cannot point flows anywhere.
 */
import { ADDRESS_LENGTH } from '../../../protocol/address.ts';
import type { RoutingKey } from '../../../protocol/routing-keys.ts';
import { TRUNK_CLIENT, TRUNK_CLIENT_PORT, TRUNK_LISTENER } from '../../../protocol/trunk.ts';
import { UFRAG_LENGTH, UfragCodec, type Route } from '../../../protocol/ufrag.ts';
import { RECORD_OVERHEAD, SignedRecords } from '../../redis/signed-records.ts';

const PREFIX = 'flow:';
const PURPOSE = 'flow';

/** Listener, client address and client port. */
const KEY_LENGTH = 1 + ADDRESS_LENGTH + 2;

export const FLOW_RECORD_LENGTH = RECORD_OVERHEAD + UFRAG_LENGTH;

/** A proven flow, as it was when it was kept. */
export interface KeptFlow {
  /** The ufrag's bytes. */
  readonly token: Uint8Array;
  readonly route: Route;
}

/**
 * The name of the flow whose packets have the trunk header at `at`: `flow:` and its listener, client
 * address and port in hexadecimal. It does not depend on the proxy, for another relay of the pool may
 * take the flow over.
 */
export function flowName(header: Uint8Array, at: number): string {
  const key = Buffer.allocUnsafe(KEY_LENGTH);
  key[0] = header[at + TRUNK_LISTENER]!;
  for (let i = 0; i < ADDRESS_LENGTH; i++) key[1 + i] = header[at + TRUNK_CLIENT + i]!;
  key[KEY_LENGTH - 2] = header[at + TRUNK_CLIENT_PORT]!;
  key[KEY_LENGTH - 1] = header[at + TRUNK_CLIENT_PORT + 1]!;
  return PREFIX + key.toString('hex');
}

export class FlowRecords {
  readonly #records: SignedRecords;
  readonly #codec: UfragCodec;

  constructor(routingKeys: readonly [RoutingKey, ...RoutingKey[]]) {
    this.#records = new SignedRecords(routingKeys, PURPOSE);
    this.#codec = new UfragCodec(routingKeys);
  }

  /**
   * @param token Begins with the ufrag's bytes.
   * @param goodUntil Milliseconds since the Unix epoch.
   */
  seal(name: string, token: Uint8Array, goodUntil: number): Buffer {
    return this.#records.seal(name, token.subarray(0, UFRAG_LENGTH), goodUntil);
  }

  /** Total: undefined for any bytes that are not a record of that flow, and good now. */
  open(name: string, record: Buffer, now: number): KeptFlow | undefined {
    if (record.length !== FLOW_RECORD_LENGTH) return undefined;
    const token = this.#records.open(name, record, now);
    const opened = token && this.#codec.open(token, now);
    // A copy, for the record lies in a buffer of everything that Redis sent with it.
    return opened?.ok ? { token: Uint8Array.from(token!), route: opened.route } : undefined;
  }
}
