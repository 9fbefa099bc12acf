/** The edge's secrets, read once per isolate. */
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKey } from '../protocol/signature.ts';
import { UfragCodec } from '../protocol/ufrag.ts';

export interface EdgeKeys {
  readonly ufrags: UfragCodec;
  readonly callIds: CallIdCodec;
  /** Signs requests to origins, and is what transceivers join a roster with. */
  readonly signingKey: Uint8Array;
}

/** A secret that is missing or malformed; the message names it and how to set it, never its value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

let held: { routingKeys: string; signingKey: string; keys: EdgeKeys } | undefined;

/** @throws SecretError */
export function edgeKeys(env: Pick<Env, 'ROUTING_KEYS' | 'SIGNING_KEY'>): EdgeKeys {
  const { ROUTING_KEYS, SIGNING_KEY } = env;
  if (held?.routingKeys === ROUTING_KEYS && held.signingKey === SIGNING_KEY) return held.keys;
  const routingKeys = read('ROUTING_KEYS', ROUTING_KEYS, parseRoutingKeys);
  const keys = {
    ufrags: new UfragCodec(routingKeys),
    callIds: new CallIdCodec(routingKeys),
    signingKey: read('SIGNING_KEY', SIGNING_KEY, parseSigningKey),
  };
  held = { routingKeys: ROUTING_KEYS, signingKey: SIGNING_KEY, keys };
  return keys;
}

function read<T>(name: string, text: string | undefined, parse: (text: string) => T): T {
  const how = `Set it with: wrangler secret put ${name}`;
  if (!text) throw new SecretError(`The secret ${name} is missing. ${how}`);
  try {
    return parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SecretError(`The secret ${name} cannot be read: ${why} ${how}`);
  }
}
