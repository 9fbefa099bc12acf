/** Why sessions end: a closed set of terms, for logs, metrics and tests. */

export const END_REASONS = [
  /** The client closed its peer connection (DTLS close_notify). */
  'client-hangup',
  /** A signed request ended the call. */
  'deleted',
  /** The client was not connected in time. */
  'setup-timeout',
  /** No valid check came for so long that the client may want no more packets (RFC 7675). */
  'consent-expired',
  /** Neither audio nor data went either way for too long. */
  'idle',
  /** The call was as long as this transceiver lets one be. */
  'max-length',
  /** The ufrag is not good any longer. */
  'expired',
  /** The handshake failed, or the certificate is not that of the offer. */
  'dtls-failed',
  /** DTLS chose no SRTP profile for a call with audio. */
  'no-srtp',
  /** The client does what no honest one does. */
  'abuse',
  'backend-failed',
  /** The drain's time ran out. */
  'drain-deadline',
  /** The transceiver was closed. */
  'stopped',
] as const;
export type EndReason = (typeof END_REASONS)[number];
