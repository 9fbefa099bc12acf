/** One conversation with the parrot: it listens, and says back what it heard once there is a pause. */
import * as v from 'valibot';
import { readEvent, type ClientEvent } from '../realtime/events.ts';
import { LISTEN_MS, SoundFrames, chime, type SoundType } from './sound-frames.ts';
import { HANGOVER_MS, VoiceActivity } from './voice-activity.ts';

/** Milliseconds of sound kept from before speech was noticed, and of quiet kept after it. */
const LEAD_MS = 300;
const TRAIL_MS = 100;

/** Milliseconds of the longest speech; a longer one is answered as if it had stopped. */
export const MAX_SPEECH_MS = 20_000;

/** Milliseconds of sound in one event. */
const DELTA_MS = 200;

const SoundFormat = v.object({ type: v.picklist(['audio/pcm', 'audio/pcmu', 'audio/pcma']) });
const Side = v.object({ format: v.optional(SoundFormat) });
const SessionUpdate = v.object({
  session: v.looseObject({
    audio: v.optional(v.object({ input: v.optional(Side), output: v.optional(Side) })),
  }),
});
const Append = v.object({ audio: v.pipe(v.string(), v.base64()) });
const ItemCreate = v.object({ item: v.looseObject({ type: v.string() }) });
const ItemTruncate = v.object({
  item_id: v.string(),
  content_index: v.number(),
  audio_end_ms: v.number(),
});

/** Takes the parrot's events, which have no ids yet. */
type Send = (event: ClientEvent) => void;

export class ParrotConversation {
  readonly #send: Send;
  #type: SoundType = 'audio/pcm';
  #frames = new SoundFrames(this.#type);
  #activity = new VoiceActivity(LISTEN_MS);
  /** What was just heard; in speech all of it. */
  readonly #heard: Uint8Array[] = [];
  #heardMs = 0;
  #greeted = false;
  #count = 0;

  constructor(send: Send) {
    this.#send = send;
    this.#send({ type: 'session.created', session: this.#session() });
  }

  /** Takes one event. Total. */
  receive(text: string): void {
    const event = readEvent(text);
    if (!event) this.#refuse('An event is a JSON object with a type.');
    else if (!this.#take(event)) this.#refuse(`The parrot knows no such ${event.type}.`);
  }

  /** False when the event is not one that it knows. */
  #take(event: ClientEvent): boolean {
    switch (event.type) {
      case 'input_audio_buffer.append':
        return known(Append, event, ({ audio }) => this.#hear(Buffer.from(audio, 'base64')));
      case 'session.update':
        return known(SessionUpdate, event, ({ session }) => this.#update(session));
      case 'conversation.item.create':
        return known(ItemCreate, event, ({ item }) => {
          this.#send({
            type: 'conversation.item.added',
            item: { id: this.#newId('item'), ...item },
          });
        });
      case 'conversation.item.truncate':
        return known(ItemTruncate, event, (what) => {
          this.#send({ ...what, type: 'conversation.item.truncated' });
        });
      default:
        return false;
    }
  }

  #update({ audio }: v.InferOutput<typeof SessionUpdate>['session']): void {
    const type = audio?.input?.format?.type ?? this.#type;
    if ((audio?.output?.format?.type ?? type) !== type) {
      this.#refuse('The parrot speaks in the format that it hears; ask for one format both ways.');
      return;
    }
    if (type !== this.#type) {
      this.#type = type;
      this.#frames = new SoundFrames(type);
      this.#activity = new VoiceActivity(LISTEN_MS);
      this.#heard.length = 0;
    }
    this.#send({ type: 'session.updated', session: this.#session() });
    if (!this.#greeted) this.#say(chime(type));
    this.#greeted = true;
  }

  #session() {
    const format = { type: this.#type, ...(this.#type === 'audio/pcm' && { rate: 24_000 }) };
    const turn_detection = { type: 'server_vad', interrupt_response: true };
    const audio = { input: { format, turn_detection }, output: { format } };
    return { type: 'realtime', model: 'parrot', audio };
  }

  #hear(sound: Uint8Array): void {
    for (const frame of this.#frames.push(sound)) {
      this.#heardMs += LISTEN_MS;
      this.#heard.push(frame);
      const change = this.#activity.hear(this.#frames.samples(frame));
      if (change === 'started') this.#onSpeech('speech_started', { audio_start_ms: this.#heardMs });
      const isTooLong = this.#heard.length * LISTEN_MS >= MAX_SPEECH_MS;
      if (change === 'stopped' || isTooLong) this.#answer();
      else if (!this.#activity.isSpeech) this.#forgetBefore(LEAD_MS);
    }
  }

  #answer(): void {
    this.#activity.stop();
    this.#onSpeech('speech_stopped', { audio_end_ms: this.#heardMs });
    this.#onSpeech('committed', { item_id: this.#newId('item') });
    const quiet = Math.floor((HANGOVER_MS - TRAIL_MS) / LISTEN_MS);
    this.#heard.length = Math.max(0, this.#heard.length - quiet);
    const speech = Buffer.concat(this.#heard);
    this.#heard.length = 0;
    this.#say(speech);
  }

  #say(sound: Uint8Array | undefined): void {
    if (!sound) return;
    const response = { id: this.#newId('resp'), object: 'realtime.response' };
    const item_id = this.#newId('item');
    const at = { response_id: response.id, item_id, output_index: 0, content_index: 0 };
    this.#send({ type: 'response.created', response: { ...response, status: 'in_progress' } });
    const length = DELTA_MS * this.#frames.bytesPerMs;
    for (let from = 0; from < sound.length; from += length) {
      const delta = Buffer.from(sound.subarray(from, from + length)).toString('base64');
      this.#send({ type: 'response.output_audio.delta', ...at, delta });
    }
    this.#send({ type: 'response.output_audio.done', ...at });
    this.#send({ type: 'response.done', response: { ...response, status: 'completed' } });
  }

  #onSpeech(what: string, fields: Readonly<Record<string, unknown>>): void {
    this.#send({ type: `input_audio_buffer.${what}`, ...fields });
  }

  #forgetBefore(ms: number): void {
    const kept = Math.ceil(ms / LISTEN_MS);
    if (this.#heard.length > kept) this.#heard.splice(0, this.#heard.length - kept);
  }

  #refuse(message: string): void {
    const error = { type: 'invalid_request_error', code: 'invalid_event', message, param: null };
    this.#send({ type: 'error', error });
  }

  #newId(kind: string): string {
    return `${kind}_${++this.#count}`;
  }
}

/** False when the event does not fit. */
function known<S extends v.GenericSchema>(
  schema: S,
  event: ClientEvent,
  take: (output: v.InferOutput<S>) => void,
): boolean {
  const result = v.safeParse(schema, event);
  if (result.success) take(result.output);
  return result.success;
}
