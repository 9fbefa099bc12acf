/** What a transceiver tells of itself, so that the edge can pick it. */
import * as v from 'valibot';

/** Milliseconds between two reports. */
export const ROSTER_HEARTBEAT = 2_000;

/** Milliseconds after its last report when a transceiver counts as dead. */
export const ROSTER_DEAD = 6_000;

export const TransceiverReportSchema = v.strictObject({
  transceiver: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff)),
  /** Sessions it holds. */
  sessions: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Sessions it can hold. */
  capacity: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** True when it takes no new session. */
  draining: v.boolean(),
});
export type TransceiverReport = v.InferOutput<typeof TransceiverReportSchema>;

/** A cluster's transceivers as the roster knows them. */
export interface RosterEntry extends TransceiverReport {
  /** Milliseconds since the Unix epoch of the last report. */
  readonly seenAt: number;
}
