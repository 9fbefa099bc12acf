/**
 * How edge and origins prove to each other who speaks: short-lived JWTs (RFC 7519), HS256 only, bound
 * to the cluster they are for. A token that carries a request is also bound to its body and good once.
 */
import { createHmac, hash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import * as v from 'valibot';
import { hmacKey } from './hmac-key.ts';

/** Seconds a token lives; clocks may differ by {@link CLOCK_TOLERANCE} seconds. */
export const TOKEN_LIFETIME = 30;
export const CLOCK_TOLERANCE = 5;

/** Fewest bytes of a signing key: RFC 7518 §3.2 asks HS256 for as many as the hash has. */
export const SIGNING_KEY_LENGTH = 32;

const ALGORITHM = 'HS256';

/** The protected header of every token. */
const HEADER = Buffer.from(JSON.stringify({ alg: ALGORITHM })).toString('base64url');

/**
 * Seconds a token is remembered after its use, whatever it says of its own end: from the earliest
 * moment it is good, a tolerance before it was issued, to the second in which it is too old.
 */
export const TOKEN_REMEMBERED = TOKEN_LIFETIME + 3 * CLOCK_TOLERANCE + 1;

/** Most relays of a region; an answer names those of two at most. */
export const MAX_REGION_RELAYS = 8;

/** A relay address as a client sees it, an ICE host candidate. */
export const RelayAddressSchema = v.strictObject({
  address: v.pipe(v.string(), v.ip(), v.excludes('%', 'give an address without a zone')),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535)),
  transport: v.picklist(['udp', 'tcp']),
});
export type RelayAddress = v.InferOutput<typeof RelayAddressSchema>;

const Uint16 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff));
const Call = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));
const RequestId = v.pipe(v.string(), v.maxLength(128));

/** A ufrag that relays can route by. */
const RoutedUfrag = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{23}$/));

/** The candidates a client is told, all of them. */
const Relays = v.pipe(
  v.array(RelayAddressSchema),
  v.minLength(1),
  v.maxLength(2 * MAX_REGION_RELAYS),
);

/** What the edge asks of a transceiver. */
export const ForwardSchema = v.variant('op', [
  v.strictObject({
    op: v.literal('create'),
    requestId: RequestId,
    transceiver: Uint16,
    call: Call,
    tenant: v.string(),
    /** The routed ufrag the session answers to. */
    ufrag: RoutedUfrag,
    /** Milliseconds since the Unix epoch, when the ufrag expires and the session must end. */
    expiresAt: v.pipe(v.number(), v.safeInteger()),
    relays: Relays,
  }),
  v.strictObject({
    op: v.literal('restart'),
    requestId: RequestId,
    transceiver: Uint16,
    call: Call,
    tenant: v.string(),
    /** A fresh one with the route of the session's, which it answers to from now on. */
    ufrag: RoutedUfrag,
    relays: Relays,
  }),
  v.strictObject({
    op: v.literal('trickle'),
    requestId: RequestId,
    transceiver: Uint16,
    call: Call,
    tenant: v.string(),
  }),
  v.strictObject({
    op: v.literal('end'),
    requestId: RequestId,
    transceiver: Uint16,
    call: Call,
    tenant: v.string(),
  }),
]);
export type Forward = v.InferOutput<typeof ForwardSchema>;

/** What a transceiver proves when it joins its cluster's roster. */
export const RosterJoinSchema = v.strictObject({ op: v.literal('join'), transceiver: Uint16 });
export type RosterJoin = v.InferOutput<typeof RosterJoinSchema>;

/** The first one signs. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** A token that is not good; the message says why and is safe to show to the peer. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}

/** Reads a signing key in base64, at least 32 bytes. @throws Error that says how one is made. */
export function parseSigningKey(text: string): Uint8Array {
  const key = new Uint8Array(Buffer.from(text, 'base64'));
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text.trim());
  if (!isBase64 || key.length < SIGNING_KEY_LENGTH) {
    throw new Error('A signing key is 32 bytes in base64; make one with: openssl rand -base64 32');
  }
  return key;
}

/**
 * Reads `BASE64` or `BASE64,BASE64`. The first key signs, both verify: a new key goes to all as the second
 * one, then to the first place, and the old one goes once no token of it lives.
 *
 * @throws Error that says what is wrong, and never shows a key.
 */
export function parseSigningKeys(text: string): SigningKeys {
  const [first, second, ...more] = text.split(',').map(parseSigningKey);
  if (more.length > 0) throw new Error('Give at most two signing keys, the one in use first.');
  return second === undefined ? [first!] : [first!, second];
}

/**
 * @param cluster Id of the cluster the token is for.
 * @param body What the token signs besides itself: the request's body, empty when it has none.
 */
export function sign(
  key: Uint8Array,
  cluster: number,
  claims: Forward | RosterJoin,
  body = '',
): string {
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    claims,
    digest: digestOf(body),
    aud: audienceOf(cluster),
    iat,
    exp: iat + TOKEN_LIFETIME,
    jti: crypto.randomUUID(),
  };
  // RFC 7515 §7.1 by hand: WebCrypto, and so jose, would take several turns of the event loop for each call.
  const input = `${HEADER}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
}

/** A token that is good but for the body it may belong to. */
export interface CheckedToken<C> {
  readonly claims: C;
  readonly jti: string;
  readonly digest: unknown;
}

/** Verifies tokens for one cluster and remembers each while it is good, so that none works twice. */
export class SignatureVerifier {
  readonly #keys: SigningKeys;
  readonly #cluster: number;
  readonly #used = new Map<string, number>();

  constructor(keys: SigningKeys | Uint8Array, cluster: number) {
    this.#keys = keys instanceof Uint8Array ? [keys] : keys;
    this.#cluster = cluster;
  }

  /** Tokens remembered now. */
  get remembered(): number {
    return this.#used.size;
  }

  /** {@link check} and {@link use} in one. @throws SignatureError */
  async verify<S extends typeof ForwardSchema | typeof RosterJoinSchema>(
    token: string,
    schema: S,
    body = '',
  ): Promise<v.InferOutput<S>> {
    return this.use(await this.check(token, schema), body);
  }

  /** All that shows before the body is read; does not use the token up. @throws SignatureError */
  async check<S extends typeof ForwardSchema | typeof RosterJoinSchema>(
    token: string,
    schema: S,
  ): Promise<CheckedToken<v.InferOutput<S>>> {
    const { jti, exp, digest, claims } = await this.#payload(token);
    const result = v.safeParse(schema, claims);
    if (!result.success) throw new SignatureError('the claims are not those of this request');
    if (!jti || !exp) throw new SignatureError('the token lacks jti or exp');
    this.#requireUnused(jti);
    return { claims: result.output, jti, digest };
  }

  /** Uses a token up for the body it was signed with. @throws SignatureError */
  use<C>({ claims, jti, digest }: CheckedToken<C>, body = ''): C {
    if (digest !== digestOf(body)) throw new SignatureError('the body was not signed');
    const now = Date.now() / 1000;
    // A Map keeps insertion order, and all are kept equally long, so the oldest tokens stand first.
    for (const [id, until] of this.#used) {
      if (until > now) break;
      this.#used.delete(id);
    }
    this.#requireUnused(jti);
    this.#used.set(jti, now + TOKEN_REMEMBERED);
    return claims;
  }

  async #payload(token: string) {
    let failure: unknown;
    for (const key of this.#keys) {
      try {
        const { payload } = await jwtVerify(token, await hmacKey(key), {
          algorithms: [ALGORITHM],
          audience: audienceOf(this.#cluster),
          clockTolerance: CLOCK_TOLERANCE,
          maxTokenAge: TOKEN_LIFETIME + CLOCK_TOLERANCE,
        });
        return payload;
      } catch (error) {
        failure = error;
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
      }
    }
    throw new SignatureError(failure instanceof Error ? failure.message : 'not a token');
  }

  #requireUnused(jti: string): void {
    if (this.#used.has(jti)) throw new SignatureError('the token was used before');
  }
}

function audienceOf(cluster: number): string {
  return `cluster:${cluster}`;
}

function digestOf(body: string): string {
  return hash('sha256', body, 'base64url');
}
