/** What a transceiver tells of itself, so that the edge can pick it. */
import * as v from 'valibot';
import { isTenantName, TENANT_NAME } from './tenant-name.ts';

/** Milliseconds between two reports. */
export const ROSTER_HEARTBEAT = 2_000;

/** Milliseconds after its last report when a transceiver counts as dead. */
export const ROSTER_DEAD = 6_000;

/** Milliseconds between two looks of a transceiver at whether its report has changed. */
export const ROSTER_CHANGE = 500;

/** Tenants of the longest report. */
export const MAX_REPORTED_TENANTS = 256;

export const TransceiverReportSchema = v.strictObject({
  transceiver: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff)),
  /** Sessions it holds. */
  sessions: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Sessions it can hold. */
  capacity: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** True when it takes no new session. */
  draining: v.boolean(),
  /**
   * Sessions of each tenant that has any, as pairs, for an object has no place for every name. Left out when
   * there are too many tenants to tell.
   */
  calls: v.optional(
    v.pipe(
      v.array(
        v.tuple([
          v.pipe(v.string(), v.regex(TENANT_NAME)),
          v.pipe(v.number(), v.integer(), v.minValue(1)),
        ]),
      ),
      v.maxLength(MAX_REPORTED_TENANTS),
    ),
  ),
});
export type TransceiverReport = v.InferOutput<typeof TransceiverReportSchema>;

/** A cluster's transceivers as the roster knows them. */
export interface RosterEntry extends Omit<TransceiverReport, 'calls'> {
  /** Milliseconds since the Unix epoch of the last report. */
  readonly seenAt: number;
}

/**
 * How many sessions each tenant has, as a report tells it.
 *
 * @param tenants The tenant of each session.
 * @returns Undefined when a report cannot hold them all: to leave one out would say that it has none.
 */
export function callsByTenant(tenants: Iterable<string>): TransceiverReport['calls'] {
  const calls = new Map<string, number>();
  for (const tenant of tenants) calls.set(tenant, (calls.get(tenant) ?? 0) + 1);
  const fits = calls.size <= MAX_REPORTED_TENANTS && [...calls.keys()].every(isTenantName);
  return fits ? [...calls] : undefined;
}
