/** Counts what came of the tokens in clients' checks, by the routing key that sealed them. */

/**
 * `known` is a token that its flow was made with, which needs no key; the others were opened, or could
 * not be.
 */
export const TOKEN_RESULTS = [
  'known',
  'ok',
  'malformed',
  'unknown-key',
  'forged',
  'expired',
] as const;
export type TokenResult = (typeof TOKEN_RESULTS)[number];

/** Plain JSON. */
export interface TokenCheckCount {
  readonly result: TokenResult;
  /** One character; none where the token names no key of this relay. */
  readonly keyId: string;
  readonly count: number;
}

/** Ids of keys are ASCII. */
const KEY_IDS = 128;
const NO_KEY = 0;

/** 64-bit floats that the counts take. */
export const TOKEN_CHECK_SLOTS = TOKEN_RESULTS.length * KEY_IDS;

const FIRST_SLOT = new Map(TOKEN_RESULTS.map((result, i) => [result, i * KEY_IDS]));

export class TokenChecks {
  readonly #slots: Float64Array;

  constructor(slots: Float64Array) {
    this.#slots = slots;
  }

  /** @param keyId First byte of the token. */
  count(result: TokenResult, keyId: number): void {
    // What a stranger writes there must not become a label of its own.
    const hasKey = result !== 'malformed' && result !== 'unknown-key' && keyId < KEY_IDS;
    this.#slots[FIRST_SLOT.get(result)! + (hasKey ? keyId : NO_KEY)]!++;
  }

  slot(i: number): number {
    return this.#slots[i]!;
  }
}

/** All that occurred. */
export function sumTokenChecks(threads: readonly TokenChecks[]): TokenCheckCount[] {
  const counts: TokenCheckCount[] = [];
  for (const [result, first] of FIRST_SLOT) {
    for (let id = 0; id < KEY_IDS; id++) {
      const count = threads.reduce((sum, checks) => sum + checks.slot(first + id), 0);
      if (count === 0) continue;
      counts.push({ result, keyId: id === NO_KEY ? '' : String.fromCharCode(id), count });
    }
  }
  return counts;
}
