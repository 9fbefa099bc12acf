/** The vectors of the RFCs and of libsrtp, which is what browsers run. */
import { afterEach, expect, test } from 'vitest';
import { AesCounter, iv, work } from './evp.ts';
import { liveNativeObjects } from './native-objects.ts';
import { newPacketCipher } from './srtp-cipher.ts';
import { sessionKeys } from './srtp-keys.ts';

afterEach(() => {
  if (liveNativeObjects()['srtp-context'] > 0) throw new Error('native objects are left over');
});

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

const MASTER_KEY = hex('E1F97A0D3E018BE0D64FA32C06DE4139');
const MASTER_SALT = hex('0EC675AD498AFEEBB6960B3AABE6');
const GCM_KEY = hex('000102030405060708090a0b0c0d0e0f');
const GCM_SALT = hex('a0a1a2a3a4a5a6a7a8a9aaab');
const NO_AUTHENTICATION = Buffer.alloc(0);

test('key derivation, RFC 3711 B.3', () => {
  const { key, salt, authentication } = sessionKeys(MASTER_KEY, MASTER_SALT, 'rtp');
  expect(Buffer.from(key)).toEqual(hex('C61E7A93744F39EE10734AFE3FF7A087'));
  expect(Buffer.from(salt)).toEqual(hex('30CBBC08863D8C85D49DB34A9AE1'));
  expect(Buffer.from(authentication)).toEqual(hex('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4'));
});

test('the key stream of counter mode, RFC 3711 B.2', () => {
  const aes = new AesCounter(hex('2B7E151628AED2A6ABF7158809CF4F3C'));
  iv.set(hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000'));
  work.fill(0, 0, 48);
  aes.apply(0, 48);
  aes.free();
  expect(work.subarray(0, 48)).toEqual(
    hex(
      'E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB' +
        '41E95B3BB0A2E8DD477901E4FCA894C0',
    ),
  );
});

/** What each vector starts from: keys as a handshake gives them, or as RFC 7714 §16 lists them. */
const derived = (profile: 1 | 7, protocol: 'rtp' | 'rtcp') =>
  profile === 7
    ? sessionKeys(GCM_KEY, GCM_SALT, protocol)
    : sessionKeys(MASTER_KEY, MASTER_SALT, protocol);
const listed = {
  key: GCM_KEY,
  salt: hex('517569642070726f2071756f'),
  authentication: NO_AUTHENTICATION,
};
const AB = 'abababababababababababababababab';

test.each([
  [
    'libsrtp, AES-CM',
    1,
    derived(1, 'rtp'),
    `800f1234decafbadcafebabe ${AB}`,
    '800f1234decafbadcafebabe 4e55dc4ce79978d88ca4d215949d2402 b78d6acc99ea179b8dbb',
  ],
  [
    'libsrtp, AES-GCM',
    7,
    derived(7, 'rtp'),
    `800f1234decafbadcafebabe ${AB}`,
    '800f1234decafbadcafebabe c5002ede04cfdd2eb91159e0880aa06e d2976826f796b201df3131a127e8a392',
  ],
  [
    'RFC 7714 §16.1.1',
    7,
    listed,
    '8040f17b8041f8d35501a0b2 47616c6c696120657374206f6d6e697320646976697361' +
      '20696e207061727465732074726573',
    '8040f17b8041f8d35501a0b2 f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e' +
      '6f42a5f47a51c7d19b36de3adf8833 899d7f27beb16a9152cf765ee4390cce',
  ],
] as const)('RTP: %s', (_, profile, keys, plain, sealed) => {
  const [seal, open] = [
    newPacketCipher(profile, keys, 'seal'),
    newPacketCipher(profile, keys, 'open'),
  ];
  const [before, after] = [hex(plain), hex(sealed)];
  work.set(before);
  expect(seal.sealRtp(12, before.length, before.readUInt16BE(2))).toBe(after.length);
  expect(Buffer.from(work.subarray(0, after.length))).toEqual(after);
  expect(open.openRtp(12, after.length, before.readUInt16BE(2))).toBe(before.length);
  expect(Buffer.from(work.subarray(0, before.length))).toEqual(before);
  seal.free();
  open.free();
});

test.each([
  [
    'libsrtp, AES-CM',
    1,
    `81c8000bcafebabe ${AB}`,
    '81c8000bcafebabe 7128035be487b9bdbef89041f977a5a8 80000001 993e08cd54d6c1230798',
  ],
  [
    'libsrtp, AES-GCM',
    7,
    `81c8000bcafebabe ${AB}`,
    '81c8000bcafebabe c98b8b5df0392a55852b6c21ac8e7025 c52c6fbea2b3b446ea31123ba88ce61e 80000001',
  ],
] as const)('RTCP: %s', (_, profile, plain, sealed) => {
  const keys = derived(profile, 'rtcp');
  const [seal, open] = [
    newPacketCipher(profile, keys, 'seal'),
    newPacketCipher(profile, keys, 'open'),
  ];
  const [before, after] = [hex(plain), hex(sealed)];
  work.set(before);
  expect(seal.sealRtcp(before.length, 1)).toBe(after.length);
  expect(Buffer.from(work.subarray(0, after.length))).toEqual(after);
  expect(open.openRtcp(after.length, 1)).toBe(before.length);
  expect(Buffer.from(work.subarray(0, before.length))).toEqual(before);
  seal.free();
  open.free();
});
