/**
 * One client's path, as 32-bit words in shared memory: to which transceiver its packets go, whether that
 * has been proven, and which checks wait for an answer. A place is the index of a flow's first word.
 *
 * Readers take no lock. What they read of a flow belongs together when its seal says so; see
 * {@link sealOf}. The first 16 words are all that most packets need: one cache line.
 */
import { KEY_WORDS } from './flow-key.ts';

/** What tells the flow from others. */
export const KEY = 0;
/** Where packets go that carry no token; the three words of a route. */
export const TARGET = KEY + KEY_WORDS;
/** Seconds since the Unix epoch. */
export const EXPIRY = TARGET + 1;
export const TOKEN_HASH = EXPIRY + 1;
export const SEAL = TOKEN_HASH + 1;
/** Of the last packet, or of the start while tentative, in milliseconds as `clock32` gives them, as all times. */
export const SEEN_AT = SEAL + 1;
/** One of the states below, with {@link ASKED} when checks wait for their answer. */
export const STATE = SEEN_AT + 1;

/** The token of the route: the ufrag's bytes. */
export const TOKEN = STATE + 1;
export const TOKEN_WORDS = 6;
/** When a check last carried that token. */
export const CHECKED_AT = TOKEN + TOKEN_WORDS;

/** Links of a tentative flow to its elder and its younger; {@link YOUNGER} also links free ones. */
export const OLDER = CHECKED_AT + 1;
export const YOUNGER = OLDER + 1;

/** Of a proven flow: the other route that a check asked for. */
export const CANDIDATE_TARGET = YOUNGER + 1;
export const CANDIDATE_EXPIRY = CANDIDATE_TARGET + 1;
export const CANDIDATE_TOKEN = CANDIDATE_EXPIRY + 1;

/** Checks asked for the candidate, or for a tentative flow's own route. */
export const ASKS = CANDIDATE_TOKEN + TOKEN_WORDS;
/** When the last one was asked. */
export const ASKED_AT = ASKS + 1;
/** When the flow came into being here. */
export const CREATED_AT = ASKED_AT + 1;
/** When another token last came to be the one that asks. */
export const TURN_AT = CREATED_AT + 1;
export const ASK_IDS = TURN_AT + 1;

/** Three cache lines. */
export const FLOW_WORDS = 48;
export const FLOW_BYTES = FLOW_WORDS * Int32Array.BYTES_PER_ELEMENT;

/** Checks remembered for a flow: browsers send one each 50 ms at most, so 0.6 s of them. */
export const PENDING_CHECKS = FLOW_WORDS - ASK_IDS;

export const FREE_STATE = 0;
/** Not yet answered by a transceiver. */
export const TENTATIVE = 1;
export const PROVEN = 2;
export const ASKED = 4;

/** A time of the steady clock in the 32 bits a word has, for differences of up to 24 days. */
export function clock32(now: number): number {
  return now | 0;
}

/** Milliseconds between two readings of {@link clock32}; negative when another thread's was the later. */
export function elapsed(now32: number, then32: number): number {
  return (now32 - then32) | 0;
}

/**
 * Seals a route to its flow. A reader that meets a writer at work may see words of two routes, or of two
 * flows that had the same place; then the seal it reads is not that of the words it read.
 */
export function sealOf(keyHash: number, target: number, expiry: number, tokenHash: number): number {
  let seal = Math.imul(keyHash ^ target, 0x9e3779b1);
  seal = Math.imul(seal ^ (seal >>> 15) ^ expiry, 0x85ebca6b);
  seal = Math.imul(seal ^ (seal >>> 13) ^ tokenHash, 0xc2b2ae35);
  return seal ^ (seal >>> 16);
}
