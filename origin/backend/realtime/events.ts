/** The events of the OpenAI Realtime protocol that the bridge acts on; all others only pass through. */
import * as v from 'valibot';
import { MAX_JSON_DEPTH, nestsWithin } from '../../../protocol/json-value.ts';
import { asConfig, type SessionConfig } from '../../../protocol/session-config.ts';
import type { SoundFormat } from '../audio/codec.ts';
import type { CutUtterance, Utterance } from '../audio/voice-out.ts';

/** Characters of a name or id in an event. */
const MAX_NAME = 256;

const Name = v.pipe(v.string(), v.maxLength(MAX_NAME));
const AnyEvent = v.looseObject({ type: Name });
const AudioDelta = v.object({
  response_id: Name,
  item_id: Name,
  content_index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
  delta: v.string(),
});
const AudioDone = v.object({ response_id: Name });
const ResponseDone = v.object({ response: v.object({ id: Name }) });
const Interruption = v.object({ interrupt_response: v.optional(v.boolean(), true) });
const SessionState = v.object({
  session: v.object({
    turn_detection: v.optional(v.nullable(Interruption)),
    audio: v.optional(
      v.object({
        input: v.optional(v.object({ turn_detection: v.optional(v.nullable(Interruption)) })),
      }),
    ),
  }),
});

/** What an event of a back end means to the bridge. */
export type ServerEvent =
  | { readonly kind: 'audio'; readonly of: Utterance; readonly sound: Uint8Array }
  | { readonly kind: 'audio done' | 'response done'; readonly response: string }
  | { readonly kind: 'speech started' }
  /** Whether speech of the client cuts a response off. */
  | { readonly kind: 'session'; readonly interrupts: boolean }
  | { readonly kind: 'other' };

export type ClientEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** Total. Undefined for what is no event, or not one that can be acted on. */
export function readServerEvent(text: string): ServerEvent | undefined {
  const event = readEvent(text);
  if (!event) return undefined;
  switch (event.type) {
    case 'response.output_audio.delta':
    case 'response.audio.delta':
      return as(AudioDelta, event, ({ response_id, item_id, content_index, delta }) => ({
        kind: 'audio',
        of: { response: response_id, item: item_id, content: content_index },
        sound: Buffer.from(delta, 'base64'),
      }));
    case 'response.output_audio.done':
    case 'response.audio.done':
      return as(AudioDone, event, ({ response_id }) => ({
        kind: 'audio done',
        response: response_id,
      }));
    case 'response.done':
      return as(ResponseDone, event, ({ response }) => ({
        kind: 'response done',
        response: response.id,
      }));
    case 'input_audio_buffer.speech_started':
      return { kind: 'speech started' };
    case 'session.created':
    case 'session.updated':
      return as(SessionState, event, ({ session }) => {
        const detection = session.audio?.input?.turn_detection ?? session.turn_detection;
        return { kind: 'session', interrupts: detection?.interrupt_response ?? true };
      });
    default:
      return { kind: 'other' };
  }
}

/** Total. Undefined for what is no event, or one too deep to be written again. */
export function readEvent(text: string): ClientEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!nestsWithin(value, MAX_JSON_DEPTH)) return undefined;
  const result = v.safeParse(AnyEvent, value);
  return result.success ? result.output : undefined;
}

/** A session.update as it is, but for the sound formats, which the call's codec decides. */
export function sessionUpdate(session: SessionConfig, format: SoundFormat | undefined): string {
  const { input_audio_format: _input, output_audio_format: _output, ...settings } = session;
  const audio = asConfig(settings['audio']);
  const withFormat = (side: unknown) => {
    const { format: _, ...own } = asConfig(side);
    return format ? { ...own, format } : own;
  };
  return JSON.stringify({
    type: 'session.update',
    session: {
      type: 'realtime',
      ...settings,
      audio: {
        ...audio,
        input: withFormat(audio['input']),
        output: withFormat(audio['output']),
      },
    },
  });
}

export function appendAudio(sound: Uint8Array): string {
  const { buffer, byteOffset, length } = sound;
  const audio = Buffer.from(buffer, byteOffset, length).toString('base64');
  return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
}

/** Tells a back end how much of what it said was heard. */
export function truncateItem({ item, content, playedMs }: CutUtterance): string {
  return JSON.stringify({
    type: 'conversation.item.truncate',
    item_id: item,
    content_index: content,
    audio_end_ms: playedMs,
  });
}

function as<S extends v.GenericSchema>(
  schema: S,
  event: unknown,
  make: (output: v.InferOutput<S>) => ServerEvent,
): ServerEvent | undefined {
  const result = v.safeParse(schema, event);
  return result.success ? make(result.output) : undefined;
}
