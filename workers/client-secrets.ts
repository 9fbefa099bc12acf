/**
 * Client secrets: what a tenant's server hands to its clients, so that they start calls without its API
 * key. Each is a JWT (RFC 7519) behind `ek_`, the prefix that clients of the Realtime API look for.
 */
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { hmacKey } from '../protocol/hmac-key.ts';
import { MAX_TENANT_BYTES } from '../protocol/call-id.ts';
import { SessionSchema, type SessionConfig } from '../protocol/session-config.ts';

/** Seconds a secret may live: least, most, and unless said otherwise. */
export const MIN_SECRET_LIFETIME = 10;
export const MAX_SECRET_LIFETIME = 7_200;
export const DEFAULT_SECRET_LIFETIME = 600;

/** Characters of the longest secret; a session configuration may fill it. */
export const MAX_SECRET_LENGTH = 8_192;

export const SECRET_PREFIX = 'ek_';

/** Bytes of a key: RFC 7518 §3.2 asks HS256 for as many as the hash has. */
const KEY_LENGTH = 32;

const ALGORITHM = 'HS256';
const TYPE = 'client-secret+jwt';
const AUDIENCE = 'calls';

/** Whoever may use a secret, may do so as often as they like until it expires. */
const PayloadSchema = v.strictObject({
  sub: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_TENANT_BYTES)),
  aud: v.literal(AUDIENCE),
  iat: v.pipe(v.number(), v.integer()),
  exp: v.pipe(v.number(), v.integer()),
  session: v.optional(SessionSchema),
});

export interface ClientSecretKey {
  /** The `kid` of what is signed with it. */
  readonly id: string;
  readonly key: Uint8Array;
}

export interface MintedSecret {
  readonly value: string;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** What a good secret says. */
export interface SecretGrant {
  readonly tenant: string;
  readonly session: SessionConfig | undefined;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** A secret that is not good; the message says why and is safe to show to its holder. */
export class ClientSecretError extends Error {
  override readonly name = 'ClientSecretError';
}

/**
 * Reads `ID:BASE64` or `ID:BASE64,ID:BASE64`. The first key signs, both verify.
 *
 * @throws Error that says what is wrong and how a key is made, and never shows the key.
 */
export function parseClientSecretKeys(text: string): [ClientSecretKey, ...ClientSecretKey[]] {
  const [first, second, ...more] = text.split(',').map((item) => parseKey(item.trim()));
  if (more.length > 0) {
    throw new Error('Give at most two keys of client secrets: the new one and the old one.');
  }
  if (second === undefined) return [first!];
  if (first!.id === second.id) {
    throw new Error(`Both keys of client secrets have the id ${second.id}; give the new another.`);
  }
  return [first!, second];
}

function parseKey(item: string): ClientSecretKey {
  const match = /^([A-Za-z0-9]{1,16}):([A-Za-z0-9+/]{43}=?)$/.exec(item);
  const key = new Uint8Array(Buffer.from(match?.[2] ?? '', 'base64'));
  if (!match || key.length !== KEY_LENGTH) {
    throw new Error(
      'A key of client secrets is a name of letters and digits, a colon and 32 bytes in base64; ' +
        'make one with: echo "A:$(openssl rand -base64 32)"',
    );
  }
  return { id: match[1]!, key };
}

/**
 * Signs with the first of its keys and verifies with all of them. The algorithm, the audience and the
 * type are pinned, so that no other token of this service, or of another, passes for a secret.
 */
export class ClientSecrets {
  readonly #signing: ClientSecretKey;
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  constructor(keys: readonly [ClientSecretKey, ...ClientSecretKey[]]) {
    this.#signing = keys[0];
    this.#keys = new Map(keys.map(({ id, key }) => [id, key]));
  }

  /**
   * @param lifetime Seconds.
   * @param session Given back by {@link verify} unchanged.
   * @throws RangeError when the lifetime is out of bounds, or the session too large for a header.
   */
  async mint(
    tenant: string,
    lifetime: number = DEFAULT_SECRET_LIFETIME,
    session?: SessionConfig,
  ): Promise<MintedSecret> {
    const fits = lifetime >= MIN_SECRET_LIFETIME && lifetime <= MAX_SECRET_LIFETIME;
    if (!Number.isInteger(lifetime) || !fits) {
      throw new RangeError(
        `A client secret lives from ${MIN_SECRET_LIFETIME} to ${MAX_SECRET_LIFETIME} whole seconds.`,
      );
    }
    const issuedAt = Math.floor(Date.now() / 1000);
    const expiresAt = issuedAt + lifetime;
    const token = await new SignJWT(session === undefined ? {} : { session })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: this.#signing.id })
      .setSubject(tenant)
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(await hmacKey(this.#signing.key));
    const value = SECRET_PREFIX + token;
    if (value.length > MAX_SECRET_LENGTH) {
      throw new RangeError(`The session makes a secret of more than ${MAX_SECRET_LENGTH} bytes.`);
    }
    return { value, expiresAt };
  }

  /**
   * @param grace Seconds after its end for which a secret still counts.
   * @throws ClientSecretError
   */
  async verify(value: string, grace = 0): Promise<SecretGrant> {
    if (!value.startsWith(SECRET_PREFIX) || value.length > MAX_SECRET_LENGTH) {
      throw new ClientSecretError('it is no client secret');
    }
    const payload = await this.#payload(value.slice(SECRET_PREFIX.length), grace);
    const result = v.safeParse(PayloadSchema, payload);
    if (!result.success) throw new ClientSecretError('it says what no client secret says');
    const { sub, exp, session } = result.output;
    return { tenant: sub, session, expiresAt: exp };
  }

  async #payload(token: string, grace: number) {
    try {
      const key = this.#keys.get(decodeProtectedHeader(token).kid ?? '');
      if (!key) throw new ClientSecretError('it is of a key that is not in use');
      const { payload } = await jwtVerify(token, await hmacKey(key), {
        algorithms: [ALGORITHM],
        audience: AUDIENCE,
        typ: TYPE,
        clockTolerance: grace,
      });
      return payload;
    } catch (error) {
      if (error instanceof ClientSecretError) throw error;
      const expired = error instanceof errors.JWTExpired;
      throw new ClientSecretError(expired ? 'it has expired' : 'it was not made by this service');
    }
  }
}
