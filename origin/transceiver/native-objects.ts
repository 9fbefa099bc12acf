/** Counts the objects of OpenSSL that a process holds: what JavaScript's memory does not show. */

/** DTLS contexts and endpoints (an SSL and its two BIOs), and the cipher contexts of SRTP. */
export type NativeKind = 'dtls-context' | 'dtls-endpoint' | 'srtp-context';

const live: Record<NativeKind, number> = {
  'dtls-context': 0,
  'dtls-endpoint': 0,
  'srtp-context': 0,
};

/** +1 when one is made, -1 when it is freed. */
export function countNative(kind: NativeKind, change: 1 | -1): void {
  live[kind] += change;
}

/** Objects that are not freed yet, by kind. */
export const liveNativeObjects = (): Readonly<Record<NativeKind, number>> => ({ ...live });
