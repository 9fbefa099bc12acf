/** How long sessions live. */

/** Milliseconds a session lives at most: its ufrag expires then. */
export const SESSION_LIFETIME = 2 * 60 * 60 * 1000;
