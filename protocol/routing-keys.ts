/** The keys that edge and relays share to seal and open routes, as operators write them. */

export interface RoutingKey {
  /** One ice-char, the first character of every ufrag sealed with this key. */
  readonly id: string;
  /** 16 bytes: AES-128. */
  readonly key: Uint8Array;
}

/**
 * Reads `ID:BASE64` or `ID:BASE64,ID:BASE64`. The first key seals, all of them open.
 *
 * @throws Error that says what is wrong and how a key is made, and never shows the key.
 */
export function parseRoutingKeys(text: string): [RoutingKey, ...RoutingKey[]] {
  const [first, ...rest] = text.split(',').map((item) => parseRoutingKey(item.trim()));
  const keys: [RoutingKey, ...RoutingKey[]] = [first!, ...rest];
  if (keys.length > 2)
    throw new Error('Give at most two routing keys: the new one and the old one.');
  if (keys.length === 2 && keys[0].id === keys[1]!.id) {
    throw new Error(`Both routing keys have the id ${keys[0].id}; give the new one another id.`);
  }
  return keys;
}

function parseRoutingKey(item: string): RoutingKey {
  const match = /^([A-Za-z0-9+/]):([A-Za-z0-9+/]{22})(?:==)?$/.exec(item);
  if (!match) {
    throw new Error(
      'A routing key is one character of A-Za-z0-9+/, a colon and 16 bytes in base64; ' +
        'make one with: echo "A:$(openssl rand -base64 16)"',
    );
  }
  return { id: match[1]!, key: new Uint8Array(Buffer.from(match[2]!, 'base64')) };
}
