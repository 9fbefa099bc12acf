/** What a drill lets pass, where several do alike. */

/**
 * Milliseconds without audio that count as none: a busy machine holds packets up, while what a fault breaks stays
 * broken until the client's next check, 2.5 s.
 */
export const NO_GAP = 2_000;

/** Milliseconds in which a client must see that its call is over: it can make another one then. */
export const TOLD = 10_000;
