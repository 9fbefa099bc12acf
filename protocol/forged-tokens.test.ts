/** Tokens whose header asks for another key or another way to verify, as RFC 7515 §4.1 and RFC 7797 have it. */
import { CompactSign, exportJWK, generateKeyPair, type CompactJWSHeaderParameters } from 'jose';
import { expect, test } from 'vitest';
import {
  ForwardSchema,
  RosterJoinSchema,
  sign,
  SignatureError,
  SignatureVerifier,
  type Forward,
} from './signature.ts';

const KEY = new Uint8Array(32).fill(7);
const OTHER = new Uint8Array(32).fill(8);
const CLUSTER = 2;
const END = {
  op: 'end',
  requestId: 'r-1',
  transceiver: 7,
  call: 'c0ffee00'.repeat(4),
  tenant: 'acme',
} as const satisfies Forward;

const partOf = (token: string, at: number) => Buffer.from(token.split('.')[at]!, 'base64url');

/** A good token's payload under another header. */
async function under(header: Record<string, unknown>, key: Uint8Array): Promise<string> {
  const payload = partOf(sign(KEY, CLUSTER, END), 1);
  const all: CompactJWSHeaderParameters = { alg: 'HS256', ...header };
  return new CompactSign(payload).setProtectedHeader(all).sign(key, { crit: { mine: true } });
}

const verify = (token: string) => new SignatureVerifier(KEY, CLUSTER).verify(token, ForwardSchema);

test('an unknown header that asks for nothing is let be, so that the refusals below mean something', async () => {
  expect(await verify(await under({ kid: 'A', mine: 1 }, KEY))).toEqual(END);
});

const { publicKey } = await generateKeyPair('ES256', { extractable: true });

test.each<[string, Record<string, unknown>]>([
  ['names another key', { kid: 'other' }],
  ['brings its key along', { jwk: { kty: 'oct', k: Buffer.from(OTHER).toString('base64url') } }],
  ['brings a public key along', { jwk: await exportJWK(publicKey) }],
  ['says where its key is', { jku: 'https://evil.test/keys' }],
  ['says where its certificate is', { x5u: 'https://evil.test/certificate' }],
])('a token of another key that %s is refused', async (_, header) => {
  const token = await under(header, OTHER);
  await expect(verify(token)).rejects.toThrow('signature verification failed');
});

test('a token that must be understood otherwise is refused', async () => {
  await expect(verify(await under({ crit: ['mine'], mine: 1 }, KEY))).rejects.toThrow(
    SignatureError,
  );
});

test('a token with the signature of another is refused', async () => {
  const [one, other] = [sign(KEY, CLUSTER, END), sign(KEY, CLUSTER, END)];
  const swapped = [...one.split('.').slice(0, 2), other.split('.')[2]].join('.');
  await expect(verify(swapped)).rejects.toThrow('signature verification failed');
});

test('a request passes for no join, and a join for no request', async () => {
  const verifier = new SignatureVerifier(KEY, CLUSTER);
  const join = sign(KEY, CLUSTER, { op: 'join', transceiver: 7 });
  const end = sign(KEY, CLUSTER, END);
  await expect(verifier.verify(join, ForwardSchema)).rejects.toThrow('the claims are not those');
  await expect(verifier.verify(end, RosterJoinSchema)).rejects.toThrow('the claims are not those');
});
