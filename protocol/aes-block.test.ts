import { createCipheriv } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AesBlockDecipher } from './aes-block.ts';

function decrypt(decipher: AesBlockDecipher, block: Buffer): Buffer {
  for (let i = 0; i < 4; i++) decipher.block[i] = block.readInt32BE(i * 4);
  decipher.decrypt();
  const plain = Buffer.alloc(16);
  for (let i = 0; i < 4; i++) plain.writeInt32BE(decipher.block[i]!, i * 4);
  return plain;
}

const NIST_KEY = '2b7e151628aed2a6abf7158809cf4f3c';

test.each([
  [
    'FIPS 197 §C.1',
    '000102030405060708090a0b0c0d0e0f',
    '69c4e0d86a7b0430d8cdb78070b4c55a',
    '00112233445566778899aabbccddeeff',
  ],
  ['FIPS 197 §B', NIST_KEY, '3925841d02dc09fbdc118597196a0b32', '3243f6a8885a308d313198a2e0370734'],
  [
    'SP 800-38A §F.1.2 #1',
    NIST_KEY,
    '3ad77bb40d7a3660a89ecaf32466ef97',
    '6bc1bee22e409f96e93d7e117393172a',
  ],
  [
    'SP 800-38A §F.1.2 #2',
    NIST_KEY,
    'f5d3d58503b9699de785895a96fdbaaf',
    'ae2d8a571e03ac9c9eb76fac45af8e51',
  ],
  [
    'SP 800-38A §F.1.2 #3',
    NIST_KEY,
    '43b1cd7f598ece23881b00e3ed030688',
    '30c81c46a35ce411e5fbc1191a0a52ef',
  ],
  [
    'SP 800-38A §F.1.2 #4',
    NIST_KEY,
    '7b0c785e27e8ad3f8223207104725dd4',
    'f69f2445df4f9b17ad2b417be66c3710',
  ],
])('%s', (_name, key, sealed, plain) => {
  const decipher = new AesBlockDecipher(Buffer.from(key, 'hex'));
  expect(decrypt(decipher, Buffer.from(sealed, 'hex')).toString('hex')).toBe(plain);
});

test('undoes what OpenSSL does, whatever the key and however many blocks', () => {
  const block = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(block, fc.array(block, { minLength: 1, maxLength: 20 }), (key, blocks) => {
      const decipher = new AesBlockDecipher(key);
      const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
      for (const plain of blocks) {
        expect(decrypt(decipher, cipher.update(plain))).toEqual(Buffer.from(plain));
      }
    }),
    { numRuns: 1000 },
  );
});

test('the key may lie anywhere in a buffer', () => {
  const slab = Buffer.from(`ff${NIST_KEY}ff`, 'hex');
  const decipher = new AesBlockDecipher(slab.subarray(1, 17));
  const sealed = Buffer.from('3ad77bb40d7a3660a89ecaf32466ef97', 'hex');
  expect(decrypt(decipher, sealed).toString('hex')).toBe('6bc1bee22e409f96e93d7e117393172a');
});
