/** What edge and transceivers agree on about fragments of SDP that carry ICE alone (RFC 8840 §9, RFC 9725 §4.3). */
export const FRAGMENT_CONTENT_TYPE = 'application/trickle-ice-sdpfrag';

/** Bytes of the largest fragment taken: hundreds of candidates. */
export const MAX_FRAGMENT_BYTES = 16 * 1024;
