/** A region's log, which is JSON, as lines for people: calls that start and end, and what went wrong. */
import * as v from 'valibot';

/** Pino's numbers for levels. */
const WARN = 40;
const FATAL = 60;

/** Characters of a call's name that are enough to tell it from its neighbours. */
const SHORT_CALL = 6;

const Entry = v.object({
  level: v.number(),
  msg: v.optional(v.string(), ''),
  region: v.optional(v.string(), 'region'),
  /** Why it is logged. */
  reason: v.optional(v.string()),
  err: v.optional(
    v.object({ message: v.optional(v.string(), ''), stack: v.optional(v.string(), '') }),
  ),
});

const CallEntry = v.object({
  msg: v.picklist(['session created', 'session ended']),
  region: v.string(),
  call: v.string(),
  transceiver: v.number(),
  reason: v.optional(v.string(), ''),
  /** Milliseconds. */
  duration: v.optional(v.number(), 0),
});

export interface LogLine {
  readonly kind: 'call' | 'trouble';
  readonly text: string;
}

/** Undefined when it says nothing that a person has to know. What is no log is passed on as it is. */
export function describeLog(line: string): LogLine | undefined {
  const json = parseJson(line);
  const call = v.safeParse(CallEntry, json);
  if (call.success) return { kind: 'call', text: describeCall(call.output) };
  const entry = v.safeParse(Entry, json);
  if (!entry.success) return line.trim() ? { kind: 'trouble', text: line } : undefined;
  const { level, region, msg, reason, err } = entry.output;
  if (level < WARN) return undefined;
  const cause = reason ?? (level >= FATAL ? err?.stack || err?.message : err?.message);
  return { kind: 'trouble', text: `${region}: ${msg}${cause ? ` (${cause})` : ''}` };
}

function describeCall(entry: v.InferOutput<typeof CallEntry>): string {
  const { msg, call, region, transceiver, reason, duration } = entry;
  const name = `call ${call.slice(0, SHORT_CALL)}`;
  const where = `${region}, transceiver ${transceiver}`;
  if (msg === 'session created') return `${name} starts: ${where}`;
  return `${name} ends:   ${where}, after ${(duration / 1000).toFixed(1)} s: ${reason}`;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
