import { base64url, SignJWT, UnsecuredJWT, generateKeyPair, exportSPKI } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ClientSecretError,
  ClientSecrets,
  DEFAULT_SECRET_LIFETIME,
  MAX_SECRET_LENGTH,
  MAX_SECRET_LIFETIME,
  MIN_SECRET_LIFETIME,
  parseClientSecretKeys,
  SECRET_PREFIX,
} from './client-secrets.ts';

const NOW = Date.UTC(2026, 10, 20);
const SECONDS = NOW / 1000;
const KEY = new Uint8Array(32).fill(1);
const OLD = { id: 'old', key: KEY };
const NEW = { id: 'new', key: new Uint8Array(32).fill(2) };

const secrets = new ClientSecrets([OLD]);

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** A secret as this service makes them, but for what `change` does. */
async function handMade(
  change: (token: SignJWT) => SignJWT,
  { header = {}, key = KEY }: { header?: object; key?: Uint8Array } = {},
): Promise<string> {
  const token = new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', typ: 'client-secret+jwt', kid: 'old', ...header })
    .setSubject('acme')
    .setAudience('calls')
    .setIssuedAt()
    .setExpirationTime('10 min');
  return SECRET_PREFIX + (await change(token).sign(key));
}

const asIs = (token: SignJWT) => token;

describe('a client secret', () => {
  it('names its tenant and session until it expires, as often as it is shown', async () => {
    const session = { type: 'realtime', instructions: 'Be kind ✓' };
    const { value, expiresAt } = await secrets.mint('acme', undefined, session);
    expect(value).toMatch(/^ek_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(expiresAt).toBe(SECONDS + DEFAULT_SECRET_LIFETIME);
    for (let i = 0; i < 2; i++) {
      expect(await secrets.verify(value)).toEqual({ tenant: 'acme', session, expiresAt });
    }
    vi.setSystemTime(1000 * (expiresAt - 1));
    await secrets.verify(value);
    vi.setSystemTime(1000 * expiresAt);
    await expect(secrets.verify(value)).rejects.toThrow(new ClientSecretError('it has expired'));
    expect(await secrets.verify(value, 60)).toMatchObject({ tenant: 'acme' });
    vi.setSystemTime(1000 * (expiresAt + 60));
    await expect(secrets.verify(value, 60)).rejects.toThrow('it has expired');
  });

  it('made as this test makes them is good, so that what is changed below is what is refused', async () => {
    expect(await secrets.verify(await handMade(asIs))).toMatchObject({ tenant: 'acme' });
  });

  it.each([MIN_SECRET_LIFETIME, MAX_SECRET_LIFETIME])('may live %i s', async (lifetime) => {
    const { expiresAt } = await secrets.mint('acme', lifetime);
    expect(expiresAt).toBe(SECONDS + lifetime);
  });

  it.each([MIN_SECRET_LIFETIME - 1, MAX_SECRET_LIFETIME + 1, 60.5, NaN, Infinity, -60])(
    'may not live %d s',
    async (lifetime) => {
      await expect(secrets.mint('acme', lifetime)).rejects.toThrow(RangeError);
    },
  );

  it('is not made so large that no header holds it', async () => {
    const session = { instructions: 'x'.repeat(MAX_SECRET_LENGTH) };
    await expect(secrets.mint('acme', 60, session)).rejects.toThrow(RangeError);
  });

  it('is good with the old key and the new one while both are live', async () => {
    const both = new ClientSecrets([NEW, OLD]);
    const ofOld = await secrets.mint('acme');
    const ofNew = await both.mint('acme');
    expect(await both.verify(ofOld.value)).toMatchObject({ tenant: 'acme' });
    expect(await both.verify(ofNew.value)).toMatchObject({ tenant: 'acme' });
    const after = new ClientSecrets([NEW]);
    expect(await after.verify(ofNew.value)).toMatchObject({ tenant: 'acme' });
    await expect(after.verify(ofOld.value)).rejects.toThrow('a key that is not in use');
  });
});

describe('what is no client secret', () => {
  it.each([
    '',
    'ek_',
    'ek_a.b.c',
    'ek_....',
    'sk_acme_x',
    '\u0000',
    `ek_${'a'.repeat(MAX_SECRET_LENGTH)}`,
  ])('%j', async (value) => {
    await expect(secrets.verify(value)).rejects.toThrow(ClientSecretError);
  });

  it('an unsigned one', async () => {
    const [, payload] = new UnsecuredJWT({})
      .setSubject('acme')
      .setAudience('calls')
      .setIssuedAt()
      .setExpirationTime('10 min')
      .encode()
      .split('.');
    for (const alg of ['none', 'None', 'HS256']) {
      const header = base64url.encode(
        JSON.stringify({ alg, typ: 'client-secret+jwt', kid: 'old' }),
      );
      await expect(secrets.verify(`ek_${header}.${payload}.`)).rejects.toThrow(
        'not made by this service',
      );
    }
  });

  it.each(['HS384', 'HS512'])('one signed by %s', async (alg) => {
    // These want longer keys, so both sides get one.
    const key = new Uint8Array(64).fill(1);
    const long = new ClientSecrets([{ id: 'old', key }]);
    expect(await long.verify(await handMade(asIs, { key }))).toMatchObject({ tenant: 'acme' });
    const value = await handMade(asIs, { header: { alg }, key });
    await expect(long.verify(value)).rejects.toThrow('not made by this service');
  });

  it.each(['RS256', 'ES256', 'EdDSA'])('one signed by %s', async (alg) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const token = new SignJWT({})
      .setProtectedHeader({ alg, typ: 'client-secret+jwt', kid: 'old' })
      .setSubject('acme')
      .setAudience('calls')
      .setIssuedAt()
      .setExpirationTime('10 min');
    const value = SECRET_PREFIX + (await token.sign(privateKey));
    await expect(secrets.verify(value)).rejects.toThrow('not made by this service');
    // The other way round: a public key that everybody knows, taken for a shared one.
    const spki = new TextEncoder().encode(await exportSPKI(publicKey));
    await expect(secrets.verify(await handMade(asIs, { key: spki }))).rejects.toThrow(
      'not made by this service',
    );
  });

  it.each<[string, (token: SignJWT) => SignJWT]>([
    ['for something else', (token) => token.setAudience('cluster:1')],
    ['for nothing', (token) => token.setAudience([])],
    ['of nobody', (token) => token.setSubject('')],
    ['of a name that is too long', (token) => token.setSubject('a'.repeat(65))],
    ['that is good only later', (token) => token.setNotBefore('1 h')],
    ['that expired', (token) => token.setExpirationTime(SECONDS - 1)],
  ])('one %s', async (_, change) => {
    await expect(secrets.verify(await handMade(change))).rejects.toThrow(ClientSecretError);
  });

  it.each([
    ['another type', { typ: 'JWT' }],
    ['no type', { typ: undefined }],
    ['an unknown key', { kid: 'other' }],
    ['no key', { kid: undefined }],
  ])('one of %s', async (_, header) => {
    await expect(secrets.verify(await handMade(asIs, { header }))).rejects.toThrow(
      ClientSecretError,
    );
  });

  it('one without an end', async () => {
    const token = new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', typ: 'client-secret+jwt', kid: 'old' })
      .setSubject('acme')
      .setAudience('calls')
      .setIssuedAt();
    await expect(secrets.verify(SECRET_PREFIX + (await token.sign(KEY)))).rejects.toThrow(
      ClientSecretError,
    );
  });

  it('one whose claims were changed', async () => {
    const { value } = await secrets.mint('acme');
    const [header, , signature] = value.split('.');
    const claims = { sub: 'other', aud: 'calls', iat: SECONDS, exp: SECONDS + 600 };
    const payload = base64url.encode(JSON.stringify(claims));
    await expect(secrets.verify(`${header}.${payload}.${signature}`)).rejects.toThrow(
      'not made by this service',
    );
  });
});

describe('the keys of client secrets', () => {
  const BASE64 = Buffer.from(KEY).toString('base64');

  it('are one or two, each with a name', () => {
    expect(parseClientSecretKeys(`old:${BASE64}`)).toEqual([OLD]);
    const text = `new:${Buffer.from(NEW.key).toString('base64')}, old:${BASE64}\n`;
    expect(parseClientSecretKeys(text)).toEqual([NEW, OLD]);
  });

  it.each([
    ['', 'make one with'],
    [BASE64, 'make one with'],
    [`:${BASE64}`, 'make one with'],
    [`a:${Buffer.alloc(31).toString('base64')}`, 'make one with'],
    [`a:${Buffer.alloc(33).toString('base64')}`, 'make one with'],
    [`a:${BASE64},a:${BASE64}`, 'Both keys'],
    [`a:${BASE64},b:${BASE64},c:${BASE64}`, 'at most two'],
  ])('are not %j', (text, why) => {
    expect(() => parseClientSecretKeys(text)).toThrow(why);
    expect(() => parseClientSecretKeys(text)).not.toThrow(BASE64);
  });
});
