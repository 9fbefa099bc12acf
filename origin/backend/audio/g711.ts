/** G.711 samples as 16-bit ones (ITU-T G.711), for what must know how loud a sound is. */
import type { AudioCodec } from '../backend.ts';

export type G711 = Exclude<AudioCodec, 'opus'>;

/** The code of no sound. */
export const G711_SILENCE: Readonly<Record<G711, number>> = { pcmu: 0xff, pcma: 0xd5 };

const CODES = 256;
const MU_BIAS = 0x84;

const TABLES: Readonly<Record<G711, Int16Array>> = {
  pcmu: Int16Array.from({ length: CODES }, (_, code) => expandMu(code)),
  pcma: Int16Array.from({ length: CODES }, (_, code) => expandA(code)),
};

export function expandG711(codec: G711, codes: Uint8Array): Int16Array {
  const table = TABLES[codec];
  return Int16Array.from(codes, (code) => table[code]!);
}

function expandMu(code: number): number {
  const bits = ~code & 0xff;
  const exponent = (bits >> 4) & 7;
  const magnitude = ((((bits & 0x0f) << 3) + MU_BIAS) << exponent) - MU_BIAS;
  return bits & 0x80 ? -magnitude : magnitude;
}

function expandA(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}
