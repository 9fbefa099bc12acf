/** What the routes of the edge share. */
import type { Context } from 'hono';
import { readFootprint } from './footprint-reader.ts';
import { rosterReader, type RosterReader } from './roster-reader.ts';
import type { SteeringIndex } from './steering.ts';

export interface EdgeEnv {
  Bindings: Env;
  Variables: { requestId: string };
}

export type EdgeContext = Context<EdgeEnv>;

/** @throws FootprintUnavailable */
export function footprintFor(context: EdgeContext): Promise<SteeringIndex> {
  return readFootprint(context.env.FOOTPRINT, backgroundOf(context));
}

export function rostersFor(context: EdgeContext): RosterReader {
  return rosterReader(context.env.ROSTER, backgroundOf(context));
}

export function backgroundOf(context: EdgeContext): (work: Promise<unknown>) => void {
  return (work) => context.executionCtx.waitUntil(work);
}

/** Whose calls these are, until callers say who they are. */
export function tenantOf(_context: EdgeContext): string {
  return 'public';
}
