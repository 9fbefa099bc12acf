/** What the routes of the edge share. */
import type { Context } from 'hono';
import type { Caller } from './callers.ts';
import type { Place } from './client-place.ts';
import { footprint } from './footprint-reader.ts';
import { rosterReader, type RosterReader } from './roster-reader.ts';
import { placeOf } from './place.ts';
import type { PlacingRecord } from './response-headers.ts';
import type { SteeringIndex } from './steering.ts';

export interface EdgeEnv {
  Bindings: Env & {
    /** SHA-256 in hexadecimal of the admin key; without it there is no admin API. */
    readonly ADMIN_KEY_HASH?: string;
  };
  Variables: {
    requestId: string;
    /** Where the request comes from; see {@link placeFor}. */
    place: Place;
    /** On routes of calls. */
    caller: Caller;
    /** Of the call that was asked for last. */
    placing: PlacingRecord | undefined;
  };
}

export type EdgeContext = Context<EdgeEnv>;

/** @throws FootprintUnavailable */
export function footprintFor(context: EdgeContext): Promise<SteeringIndex> {
  return footprint.read(context.env.FOOTPRINT, backgroundOf(context));
}

export function rostersFor(context: EdgeContext): RosterReader {
  return rosterReader(context.env.ROSTER, backgroundOf(context));
}

/** Read once: each look into `request.cf` goes through the runtime. */
export function placeFor(context: EdgeContext): Place {
  const known: Place | undefined = context.get('place');
  if (known) return known;
  const place = placeOf(context.req.raw);
  context.set('place', place);
  return place;
}

export function backgroundOf(context: EdgeContext): (work: Promise<unknown>) => void {
  return (work) => context.executionCtx.waitUntil(work);
}

/** Name of the tenant whose calls these are. */
export function tenantOf(context: EdgeContext): string {
  return context.get('caller').name;
}
