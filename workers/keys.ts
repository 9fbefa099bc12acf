/** The edge's secrets, read once per isolate. */
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys, type SigningKeys } from '../protocol/signature.ts';
import { UfragCodec } from '../protocol/ufrag.ts';
import { ClientSecrets, parseClientSecretKeys } from './client-secrets.ts';

export interface EdgeKeys {
  readonly ufrags: UfragCodec;
  readonly callIds: CallIdCodec;
  /** Signs requests to origins. */
  readonly signingKey: Uint8Array;
  /** What transceivers may join a roster with. */
  readonly signingKeys: SigningKeys;
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
  const signingKeys = read('SIGNING_KEY', SIGNING_KEY, parseSigningKeys);
  const keys = {
    ufrags: new UfragCodec(routingKeys),
    callIds: new CallIdCodec(routingKeys),
    signingKey: signingKeys[0],
    signingKeys,
  };
  held = { routingKeys: ROUTING_KEYS, signingKey: SIGNING_KEY, keys };
  return keys;
}

let heldSecrets: { text: string; secrets: ClientSecrets } | undefined;

/** @throws SecretError */
export function clientSecrets({
  CLIENT_SECRET_KEYS,
}: Pick<Env, 'CLIENT_SECRET_KEYS'>): ClientSecrets {
  if (heldSecrets?.text === CLIENT_SECRET_KEYS) return heldSecrets.secrets;
  const keys = read('CLIENT_SECRET_KEYS', CLIENT_SECRET_KEYS, parseClientSecretKeys);
  heldSecrets = { text: CLIENT_SECRET_KEYS, secrets: new ClientSecrets(keys) };
  return heldSecrets.secrets;
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
