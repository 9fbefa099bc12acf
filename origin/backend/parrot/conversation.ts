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

/** The voice that says everything back at once, for those who want to hear a path and not a turn. */
export const ECHO_VOICE = 'echo';

/** Milliseconds of sound in one event. */
const DELTA_MS = 200;

const SoundFormat = v.object({ type: v.picklist(['audio/pcm', 'audio/pcmu', 'audio/pcma']) });
const Detection = v.object({
  create_response: v.nullish(v.boolean()),
  interrupt_response: v.nullish(v.boolean()),
  silence_duration_ms: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_SPEECH_MS))),
});
const Input = v.object({
  format: v.optional(SoundFormat),
  turn_detection: v.nullish(Detection),
});
const Output = v.object({ format: v.optional(SoundFormat), voice: v.nullish(v.string()) });
const SessionUpdate = v.object({
  session: v.object({
    instructions: v.nullish(v.string()),
    audio: v.optional(v.object({ input: v.optional(Input), output: v.optional(Output) })),
  }),
});
type SessionUpdate = v.InferOutput<typeof SessionUpdate>['session'];
const Append = v.object({ audio: v.pipe(v.string(), v.base64()) });
const ItemCreate = v.object({ item: v.looseObject({ type: v.string() }) });
const ItemTruncate = v.object({
  item_id: v.string(),
  content_index: v.number(),
  audio_end_ms: v.number(),
});

/** When it takes a turn, as sessions have it; null for one that listens only. */
interface Detection {
  readonly type: 'server_vad';
  readonly create_response: boolean;
  readonly interrupt_response: boolean;
  readonly silence_duration_ms: number;
}

const DETECTION: Detection = {
  type: 'server_vad',
  create_response: true,
  interrupt_response: true,
  silence_duration_ms: HANGOVER_MS,
};

/** One that is being said, as its events name it. */
interface Response {
  readonly response: { readonly id: string; readonly object: string };
  readonly at: Readonly<Record<'response_id' | 'item_id', string>> &
    Readonly<Record<'output_index' | 'content_index', number>>;
}

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
  /** What was heard last, for a client that asks for responses itself. */
  #speech: Uint8Array | undefined;
  #instructions: string | undefined;
  #voiceName: string | undefined;
  #detection: Detection | null = DETECTION;
  /** The response that echoes, while the voice does. */
  #echo: Response | undefined;
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
      case 'response.create':
        this.#say(this.#speech ?? chime(this.#type));
        return true;
      default:
        return false;
    }
  }

  #update({ instructions, audio }: SessionUpdate): void {
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
      this.#speech = undefined;
    }
    this.#instructions = instructions ?? this.#instructions;
    this.#voiceName = audio?.output?.voice ?? this.#voiceName;
    if (this.#voiceName !== ECHO_VOICE) this.#endEcho();
    this.#detect(audio?.input?.turn_detection);
    this.#send({ type: 'session.updated', session: this.#session() });
    if (!this.#greeted) this.#say(chime(type));
    this.#greeted = true;
  }

  /** @param asked Members that are missing stay as they are; undefined changes nothing. */
  #detect(asked: v.InferOutput<typeof Input>['turn_detection']): void {
    if (asked === null) this.#detection = null;
    else if (asked) {
      const now = this.#detection ?? DETECTION;
      this.#detection = {
        type: 'server_vad',
        create_response: asked.create_response ?? now.create_response,
        interrupt_response: asked.interrupt_response ?? now.interrupt_response,
        silence_duration_ms: asked.silence_duration_ms ?? now.silence_duration_ms,
      };
    }
    if (this.#detection) this.#activity.setHangover(this.#detection.silence_duration_ms);
    else this.#activity.stop();
  }

  #session() {
    const format = { type: this.#type, ...(this.#type === 'audio/pcm' && { rate: 24_000 }) };
    const audio = {
      input: { format, turn_detection: this.#detection },
      output: { format, voice: this.#voiceName },
    };
    return { type: 'realtime', model: 'parrot', instructions: this.#instructions, audio };
  }

  #hear(sound: Uint8Array): void {
    if (this.#voiceName === ECHO_VOICE) {
      this.#echo ??= this.#startResponse();
      this.#saySome(this.#echo, sound);
      return;
    }
    for (const frame of this.#frames.push(sound)) {
      this.#heardMs += LISTEN_MS;
      this.#heard.push(frame);
      if (!this.#detection) {
        this.#forgetBefore(LEAD_MS);
        continue;
      }
      const change = this.#activity.hear(this.#frames.samples(frame));
      if (change === 'started') this.#onSpeech('speech_started', { audio_start_ms: this.#heardMs });
      const isTooLong = this.#heard.length * LISTEN_MS >= MAX_SPEECH_MS;
      if (change === 'stopped' || isTooLong) this.#answer(this.#detection);
      else if (!this.#activity.isSpeech) this.#forgetBefore(LEAD_MS);
    }
  }

  #answer({ create_response, silence_duration_ms }: Detection): void {
    this.#activity.stop();
    this.#onSpeech('speech_stopped', { audio_end_ms: this.#heardMs });
    this.#onSpeech('committed', { item_id: this.#newId('item') });
    const quiet = Math.max(0, Math.floor((silence_duration_ms - TRAIL_MS) / LISTEN_MS));
    this.#heard.length = Math.max(0, this.#heard.length - quiet);
    this.#speech = Buffer.concat(this.#heard);
    this.#heard.length = 0;
    if (create_response) this.#say(this.#speech);
  }

  #say(sound: Uint8Array | undefined): void {
    if (!sound) return;
    const response = this.#startResponse();
    const length = DELTA_MS * this.#frames.bytesPerMs;
    for (let from = 0; from < sound.length; from += length) {
      this.#saySome(response, sound.subarray(from, from + length));
    }
    this.#endResponse(response);
  }

  #startResponse(): Response {
    const response = { id: this.#newId('resp'), object: 'realtime.response' };
    const item_id = this.#newId('item');
    this.#send({ type: 'response.created', response: { ...response, status: 'in_progress' } });
    const at = { response_id: response.id, item_id, output_index: 0, content_index: 0 };
    return { response, at };
  }

  #saySome({ at }: Response, sound: Uint8Array): void {
    const delta = Buffer.from(sound).toString('base64');
    this.#send({ type: 'response.output_audio.delta', ...at, delta });
  }

  #endResponse({ response, at }: Response): void {
    this.#send({ type: 'response.output_audio.done', ...at });
    this.#send({ type: 'response.done', response: { ...response, status: 'completed' } });
  }

  #endEcho(): void {
    if (this.#echo) this.#endResponse(this.#echo);
    this.#echo = undefined;
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
