/** What a token says, and the token itself, as the words that a flow keeps of both. */
import { UFRAG_LENGTH, type Route } from '../../protocol/ufrag.ts';
import { TOKEN_WORDS } from './flow.ts';
import type { KeyedHash } from './keyed-hash.ts';

const SECOND = 1000;
/** Years ahead; what would be later ends then. */
const MAX_EXPIRY = 0xff_ff_ff_ff;

/** A route, to be set for one packet after another. */
export class TokenRoute {
  readonly #keyed: KeyedHash;
  readonly token = new Int32Array(TOKEN_WORDS);
  tokenHash = 0;
  target = 0;
  expiry = 0;

  constructor(keyed: KeyedHash) {
    this.#keyed = keyed;
  }

  /** @param bytes Hold the ufrag at `at`. */
  setToken(bytes: Uint8Array, at: number): void {
    this.token.fill(0);
    for (let i = 0; i < UFRAG_LENGTH; i++) this.token[i >> 2]! |= bytes[at + i]! << ((i & 3) * 8);
    this.tokenHash = this.#keyed.words(this.token, 0, TOKEN_WORDS);
  }

  setRoute({ cluster, transceiver, expiresAt }: Route): void {
    this.target = (cluster << 16) | transceiver;
    this.expiry = Math.min(Math.floor(expiresAt / SECOND), MAX_EXPIRY) | 0;
  }

  /** Whether the token is the one whose words begin at `at`. */
  hasTokenAt(flows: Int32Array, at: number): boolean {
    for (let i = 0; i < TOKEN_WORDS; i++) if (flows[at + i] !== this.token[i]) return false;
    return true;
  }
}

export function clusterOf(target: number): number {
  return target >>> 16;
}

export function transceiverOf(target: number): number {
  return target & 0xffff;
}

/** Milliseconds since the Unix epoch. */
export function expiresAtOf(expiry: number): number {
  return (expiry >>> 0) * SECOND;
}
