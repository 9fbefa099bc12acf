/** How long sessions may take, be silent and last. */
import type { EndReason } from './end-reason.ts';

export interface SessionLimits {
  /** Milliseconds a client has from its answer to the end of the DTLS handshake. */
  readonly setup: number;
  /** Milliseconds without audio and data either way. */
  readonly idle: number;
  /** Milliseconds from the answer, whatever happens in the call. */
  readonly length: number;
}

export const SETUP_TIMEOUT = 15_000;

/** A browser sends audio even when it is muted; what is silent for this long was forgotten. */
export const IDLE_TIMEOUT = 120_000;

/** As long as the edge lets a ufrag live. */
export const MAX_LENGTH = 2 * 60 * 60 * 1000;

export const DEFAULT_LIMITS: SessionLimits = {
  setup: SETUP_TIMEOUT,
  idle: IDLE_TIMEOUT,
  length: MAX_LENGTH,
};

export interface SessionClock {
  readonly connected: boolean;
  /** Milliseconds since the answer, and since audio or data last went either way. */
  readonly age: number;
  readonly quiet: number;
  /** Milliseconds since the Unix epoch, when the ufrag expires. */
  readonly expiresAt: number;
  readonly hasConsent: boolean;
}

/** The limit that a session has passed, if any. */
export function passedLimit(
  { connected, age, quiet, expiresAt, hasConsent }: SessionClock,
  limits: SessionLimits,
): EndReason | undefined {
  if (!connected && age > limits.setup) return 'setup-timeout';
  if (Date.now() >= expiresAt) return 'expired';
  if (age > limits.length) return 'max-length';
  if (!hasConsent) return 'consent-expired';
  if (connected && quiet > limits.idle) return 'idle';
  return undefined;
}
