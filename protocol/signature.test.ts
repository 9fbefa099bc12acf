import { createHash, createHmac } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  MAX_REGION_RELAYS,
  CLOCK_TOLERANCE,
  ForwardSchema,
  parseSigningKey,
  parseSigningKeys,
  RosterJoinSchema,
  sign,
  SignatureError,
  SignatureVerifier,
  TOKEN_LIFETIME,
  type Forward,
} from './signature.ts';

// Long enough for HS512, so that a refusal of it is for its name alone.
const KEY = new Uint8Array(64).fill(7);
const CLUSTER = 2;
const NOW = Date.UTC(2026, 5, 1);
const BODY = 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=é\r\n';
const END = {
  op: 'end' as const,
  requestId: 'r-1',
  transceiver: 7,
  call: 'c0ffee00'.repeat(4),
  tenant: 'acme',
} satisfies Forward;
const CREATE = {
  ...END,
  op: 'create' as const,
  ufrag: 'A'.repeat(23),
  expiresAt: NOW + 3_600_000,
  relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }],
} satisfies Forward;

const RESTART = {
  ...END,
  op: 'restart' as const,
  ufrag: CREATE.ufrag,
  relays: CREATE.relays,
} satisfies Forward;
const TRICKLE = { ...END, op: 'trickle' as const } satisfies Forward;

const WRONG_ALGORITHM = '"alg" (Algorithm) Header Parameter value not allowed';

let verifier: SignatureVerifier;

const partText = (part?: string) => Buffer.from(part ?? '', 'base64url').toString();

test('a token is of these bytes', async () => {
  const token = sign(KEY, CLUSTER, END, BODY);
  const [header, payload, signature] = token.split('.');
  expect(partText(header)).toBe('{"alg":"HS256"}');
  const { jti } = JSON.parse(partText(payload));
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
  const iat = NOW / 1000;
  const digest = createHash('sha256').update(BODY).digest('base64url');
  const common = { aud: `cluster:${CLUSTER}`, iat, exp: iat + TOKEN_LIFETIME, jti };
  expect(partText(payload)).toBe(JSON.stringify({ claims: END, digest, ...common }));
  const mac = createHmac('sha256', KEY).update(`${header}.${payload}`).digest('base64url');
  expect(signature).toBe(mac);
});

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  verifier = new SignatureVerifier(KEY, CLUSTER);
});
afterEach(() => vi.useRealTimers());

const verify = (token: string, body = '') => verifier.verify(token, ForwardSchema, body);

/** A token in all but what the test changes as `sign` makes it. */
const handMade = (change: (token: SignJWT) => SignJWT, claims: object = END, alg = 'HS256') =>
  change(
    new SignJWT({ claims, digest: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' })
      .setProtectedHeader({ alg })
      .setAudience(`cluster:${CLUSTER}`)
      .setIssuedAt()
      .setExpirationTime('30 s')
      .setJti('by-hand'),
  ).sign(KEY);

describe('a signed request', () => {
  test.each<Forward>([CREATE, RESTART, TRICKLE, END])(
    '$op gives its claims back',
    async (claims) => {
      expect(await verify(sign(KEY, CLUSTER, claims, BODY), BODY)).toEqual(claims);
    },
  );

  test('to join a roster gives its claims back', async () => {
    const claims = { op: 'join', transceiver: 3 } as const;
    const token = sign(KEY, CLUSTER, claims);
    expect(await verifier.verify(token, RosterJoinSchema)).toEqual(claims);
  });

  test('made by hand as by sign is good, so that the refusals below mean something', async () => {
    expect(await verify(await handMade((token) => token))).toEqual(END);
  });
});

describe('refused is', () => {
  test('a token used before, and only for as long as it lives', async () => {
    const token = sign(KEY, CLUSTER, END);
    await verify(token);
    await expect(verify(token)).rejects.toThrow(new SignatureError('the token was used before'));
    vi.setSystemTime(NOW + (TOKEN_LIFETIME + CLOCK_TOLERANCE) * 1000 - 1);
    await expect(verify(token)).rejects.toThrow('the token was used before');
    vi.setSystemTime(NOW + (TOKEN_LIFETIME + CLOCK_TOLERANCE) * 1000);
    await expect(verify(token)).rejects.toThrow('"exp" claim timestamp check failed');
  });

  test('no memory of a token for longer, whatever it says of its own end', async () => {
    const long = await handMade((token) => token.setExpirationTime('100 years'));
    await verify(long);
    vi.setSystemTime(NOW + (TOKEN_LIFETIME + 2 * CLOCK_TOLERANCE) * 1000);
    await expect(verify(long)).rejects.toThrow('the token was used before');
    vi.setSystemTime(NOW + (TOKEN_LIFETIME + 4 * CLOCK_TOLERANCE) * 1000);
    await expect(verify(long)).rejects.toThrow('too far in the past');
    await verify(sign(KEY, CLUSTER, END));
    expect(verifier.remembered).toBe(1);
  });

  test('a token used while its body was on the way', async () => {
    const token = sign(KEY, CLUSTER, CREATE, BODY);
    const checked = await verifier.check(token, ForwardSchema);
    await verify(token, BODY);
    expect(() => verifier.use(checked, BODY)).toThrow('the token was used before');
  });

  test('one of two uses at the same time', async () => {
    const token = sign(KEY, CLUSTER, END);
    const uses = await Promise.allSettled([verify(token), verify(token)]);
    expect(uses.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('a token for another body, which does not use it up', async () => {
    const token = sign(KEY, CLUSTER, CREATE, BODY);
    await expect(verify(token, `${BODY} `)).rejects.toThrow('the body was not signed');
    await expect(verify(token)).rejects.toThrow('the body was not signed');
    expect(await verify(token, BODY)).toEqual(CREATE);
  });

  test('a token for another cluster', async () => {
    const token = sign(KEY, CLUSTER + 1, END);
    await expect(verify(token)).rejects.toThrow('unexpected "aud" claim value');
  });

  test('a token of another key', async () => {
    const token = sign(new Uint8Array(32).fill(8), CLUSTER, END);
    await expect(verify(token)).rejects.toThrow('signature verification failed');
  });

  test('a token for something else', async () => {
    const join = sign(KEY, CLUSTER, { op: 'join', transceiver: 3 });
    await expect(verify(join)).rejects.toThrow('not those of this request');
    const end = sign(KEY, CLUSTER, END);
    await expect(verifier.verify(end, RosterJoinSchema)).rejects.toThrow('not those of this');
  });

  test.each([
    ['an unknown field', { ...END, admin: true }],
    ['a missing field', { ...END, call: undefined }],
    ['a call that is no call', { ...END, call: '../etc' }],
    ['a transceiver that does not fit', { ...END, transceiver: 65_536 }],
    ['no relay', { ...CREATE, relays: [] }],
    [
      'more relays than two regions have',
      { ...CREATE, relays: Array(2 * MAX_REGION_RELAYS + 1).fill(CREATE.relays[0]) },
    ],
    ['a relay by name', { ...CREATE, relays: [{ ...CREATE.relays[0], address: 'host' }] }],
    ['a relay in a zone', { ...CREATE, relays: [{ ...CREATE.relays[0], address: 'fe80::1%lo' }] }],
    ['a ufrag that ends its line', { ...CREATE, ufrag: `${'A'.repeat(21)}\r\n` }],
    ['a ufrag of other characters', { ...CREATE, ufrag: `${'A'.repeat(22)}-` }],
    ['a ufrag that is too short', { ...CREATE, ufrag: 'A'.repeat(22) }],
    ['an end between milliseconds', { ...CREATE, expiresAt: NOW + 0.5 }],
    ['no end that a clock could show', { ...CREATE, expiresAt: 1e300 }],
  ])('a token with %s', async (_, claims) => {
    const token = await handMade((made) => made, claims);
    await expect(verify(token)).rejects.toThrow('not those of this request');
  });

  test('an unsigned token', async () => {
    const token = new UnsecuredJWT({ claims: END, digest: '' })
      .setAudience(`cluster:${CLUSTER}`)
      .setIssuedAt()
      .setExpirationTime('30 s')
      .setJti('none')
      .encode();
    await expect(verify(token)).rejects.toThrow(new SignatureError(WRONG_ALGORITHM));
  });

  test.each(['HS384', 'HS512'])('a token signed by %s', async (alg) => {
    const token = await handMade((made) => made, END, alg);
    await expect(verify(token)).rejects.toThrow(new SignatureError(WRONG_ALGORITHM));
  });

  test.each([
    ['a jti', 'lacks jti', (token: SignJWT) => token.setJti('')],
    ['an audience', '"aud" claim', (token: SignJWT) => token.setAudience('')],
    [
      'a past to be issued in',
      '"iat" claim timestamp check failed (it should be in the past)',
      (token: SignJWT) => token.setIssuedAt(NOW / 1000 + CLOCK_TOLERANCE + 1),
    ],
    [
      'youth, however long it says to live',
      '"iat" claim timestamp check failed (too far in the past)',
      (token: SignJWT) => token.setIssuedAt(NOW / 1000 - 41).setExpirationTime('1 year'),
    ],
  ])('a token without %s', async (_, message, change) => {
    await expect(verify(await handMade(change))).rejects.toThrow(message);
  });

  test.each(['', 'x', 'a.b.c', '....', 'ey.ey.ey', '\u0000'])('%j', async (token) => {
    await expect(verify(token)).rejects.toThrow(SignatureError);
  });
});

describe('clocks', () => {
  const SECOND = 1000;

  test.each([
    ['behind by the tolerance', -CLOCK_TOLERANCE],
    ['ahead by lifetime and nearly the tolerance', TOKEN_LIFETIME + CLOCK_TOLERANCE - 1],
  ])('%s are good', async (_, seconds) => {
    const token = sign(KEY, CLUSTER, END);
    vi.setSystemTime(NOW + seconds * SECOND);
    expect(await verify(token)).toEqual(END);
  });

  test.each([
    ['behind by more than the tolerance', -CLOCK_TOLERANCE - 1],
    ['ahead by lifetime and tolerance', TOKEN_LIFETIME + CLOCK_TOLERANCE],
  ])('%s are not', async (_, seconds) => {
    const token = sign(KEY, CLUSTER, END);
    vi.setSystemTime(NOW + seconds * SECOND);
    await expect(verify(token)).rejects.toThrow('claim timestamp check failed');
  });
});

const textOf = (...keys: Uint8Array[]) =>
  keys.map((key) => Buffer.from(key).toString('base64')).join(', ');

describe('two signing keys', () => {
  const OLD = new Uint8Array(32).fill(1);
  const NEW = new Uint8Array(32).fill(2);
  test('are both good while one takes over from the other, in each order of who learns of it', async () => {
    const steps = [textOf(OLD), textOf(OLD, NEW), textOf(NEW, OLD), textOf(NEW)].map(
      parseSigningKeys,
    );
    for (const [i, signers] of steps.entries()) {
      // Edge and origins are at the same step, or one is a step behind.
      for (const keys of steps.slice(Math.max(0, i - 1), i + 2)) {
        const both = new SignatureVerifier(keys, CLUSTER);
        const token = sign(signers[0], CLUSTER, END);
        expect(await both.verify(token, ForwardSchema)).toEqual(END);
        await expect(both.verify(token, ForwardSchema)).rejects.toThrow('was used before');
      }
    }
  });

  test('do not make a third one good, nor a token that is too old', async () => {
    const both = new SignatureVerifier([NEW, OLD], CLUSTER);
    const other = sign(KEY, CLUSTER, END);
    await expect(both.verify(other, ForwardSchema)).rejects.toThrow('verification failed');
    const old = sign(OLD, CLUSTER, END);
    vi.setSystemTime(NOW + 60_000);
    await expect(both.verify(old, ForwardSchema)).rejects.toThrow('timestamp check failed');
  });

  test('are at most two, and each is one', () => {
    expect(parseSigningKeys(textOf(NEW, OLD))).toEqual([NEW, OLD]);
    expect(() => parseSigningKeys(textOf(NEW, OLD, NEW))).toThrow('at most two');
    for (const bad of ['', `${textOf(NEW)},`, `,${textOf(NEW)}`, `${textOf(NEW)},short`]) {
      expect(() => parseSigningKeys(bad)).toThrow('make one with');
    }
  });
});

describe('a signing key', () => {
  test('is 32 bytes or more in base64', () => {
    expect(parseSigningKey(`${Buffer.from(KEY).toString('base64')}\n`)).toEqual(KEY);
  });

  test.each([
    '',
    'short',
    Buffer.alloc(31).toString('base64'),
    `"${Buffer.alloc(32).toString('base64')}"`,
    `${Buffer.alloc(32).toString('base64')} # staging`,
  ])('is not %j', (text) => {
    expect(() => parseSigningKey(text)).toThrow('make one with: openssl rand -base64 32');
  });
});
