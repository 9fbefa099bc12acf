/** What a caller asks of the voice in its call, as the Realtime API of OpenAI writes a session. */
import * as v from 'valibot';
import { jsonObject, nestsWithin } from './json-value.ts';

/** UTF-8 bytes of the largest one as JSON: instructions and tools are its bulk. */
export const MAX_SESSION_BYTES = 64 * 1024;

/** Objects and lists within one another. */
export const MAX_SESSION_DEPTH = 64;

/** Characters of a model's name. */
const MAX_MODEL = 128;

/** The members that are judged here; a back end judges the rest. */
const SessionMembers = v.looseObject({
  type: v.optional(v.literal('realtime'), 'realtime'),
  model: v.optional(v.pipe(v.string(), v.maxLength(MAX_MODEL))),
});

export const SessionSchema = v.pipe(
  jsonObject(SessionMembers),
  v.check(
    (session) => fits(session),
    `nests deeper than ${MAX_SESSION_DEPTH}, or has more than ${MAX_SESSION_BYTES} bytes`,
  ),
);

export type SessionConfig = Readonly<Record<string, unknown>>;

/** Whether it is small and flat enough to be sent on. */
export function fits(session: SessionConfig): boolean {
  if (!nestsWithin(session, MAX_SESSION_DEPTH)) return false;
  return new TextEncoder().encode(JSON.stringify(session)).length <= MAX_SESSION_BYTES;
}

/**
 * Members of `over` replace those of `under`, in `audio` those of its `input` and `output`. Nothing else is merged
 * within, for half of one `turn_detection` in another is none.
 */
export function mergeSessions(under: SessionConfig, over: SessionConfig): SessionConfig {
  const merged = { ...under, ...over };
  if (!isObject(under['audio']) || !isObject(over['audio'])) return merged;
  const audio: Record<string, unknown> = { ...under['audio'], ...over['audio'] };
  for (const side of ['input', 'output']) {
    const [below, above] = [under['audio'][side], over['audio'][side]];
    if (isObject(below) && isObject(above)) audio[side] = { ...below, ...above };
  }
  return { ...merged, audio };
}

/** The value when it is an object and no list, else one without members. */
export function asConfig(value: unknown): SessionConfig {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is SessionConfig {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
