/** One call's conversation: sound and events between the client and a back end of the Realtime protocol. */
import { randomUUID } from 'node:crypto';
import { asConfig, mergeSessions, type SessionConfig } from '../../../protocol/session-config.ts';
import type { BackendSession, Call, ReceivedAudio } from '../backend.ts';
import { openCodec } from '../audio/open-codec.ts';
import { Voice } from '../audio/voice.ts';
import {
  appendAudio,
  readEvent,
  readServerEvent,
  sessionUpdate,
  truncateItem,
  type ServerEvent,
} from './events.ts';
import { BackendLink } from './link.ts';
import type { RealtimeOptions } from './realtime.ts';
import { WaitingEvents } from './waiting-events.ts';

/** The data channel that carries a conversation's events. */
export const EVENTS_CHANNEL = 'oai-events';

/** Milliseconds that the client gets to learn why its call ends. */
const FAREWELL = 250;

/** Characters, as JSON, of the largest session that updates may add up to. */
export const MAX_SESSION = 256 * 1024;

/** Responses remembered as cut off; sound of theirs may still be under way. */
const MAX_CUT = 16;

export class RealtimeSession implements BackendSession {
  readonly #call: Call;
  readonly #options: RealtimeOptions;
  readonly #link: BackendLink;
  readonly #forClient = new WaitingEvents();
  readonly #forBackend = new WaitingEvents();
  /** Responses that were cut off: what still comes of them is not said. */
  readonly #cut = new Set<string>();
  #voice: Voice | undefined;
  #channelOpen = false;
  #interrupts = true;
  #isFull = false;
  #hasSentNoEvent = false;
  #farewell: NodeJS.Timeout | undefined;
  #over = false;
  /** What the conversation begins with, each time a link opens. */
  #session: SessionConfig;

  constructor(call: Call, options: RealtimeOptions) {
    this.#call = call;
    this.#options = options;
    this.#session = mergeSessions(options.session ?? {}, ofCaller(call.session ?? {}));
    this.#link = new BackendLink(options, {
      opened: () => this.#guard(() => this.#onOpened()),
      message: (text) => this.#guard(() => this.#onMessage(text)),
      lost: (reason) => this.#guard(() => this.#onLost(reason)),
      failed: (reason) => this.#fail(`The back end cannot be reached: ${reason}.`),
    });
    this.#openVoice().catch((error: unknown) => {
      options.log.error({ err: error, call: call.id }, 'the codec cannot start');
      this.#fail('The codec of the call cannot start.');
    });
  }

  audio(packet: ReceivedAudio): void {
    this.#voice?.receive(packet);
  }

  data(label: string, data: string | Uint8Array): void {
    if (label !== EVENTS_CHANNEL) return;
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    const event = readEvent(text);
    if (!event) this.#tellError('invalid_event', 'An event is a JSON object with a type.');
    else if (event.type === 'output_audio_buffer.clear') this.#interrupt();
    else if (event.type === 'input_audio_buffer.append') {
      this.#tellError('invalid_event', 'The sound of a call is what its audio track carries.');
    } else if (event.type === 'session.update') this.#update(asConfig(event['session']));
    else this.#toBackend(text);
  }

  opened(label: string): void {
    if (label !== EVENTS_CHANNEL || this.#channelOpen) return;
    this.#channelOpen = true;
    for (const text of this.#forClient.take()) this.#call.sendData(EVENTS_CHANNEL, text);
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#farewell);
    const at = { call: this.#call.id, unsent: this.#link.unsent, ...this.#voice?.counters };
    this.#options.log.debug(at, 'conversation ended');
    this.#voice?.close();
    this.#link.close();
  }

  /** Nobody stands above what a socket or a clock calls, so what is thrown there would end the process. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onFault(error);
    }
  }

  #onFault(error: unknown): void {
    const at = { err: error, call: this.#call.id };
    this.#options.log.error(at, 'a conversation failed; this is a bug');
    this.#call.fail('The conversation failed here.');
  }

  async #openVoice(): Promise<void> {
    if (this.#call.codec === undefined) return;
    const codec = await openCodec(this.#call.codec);
    if (this.#over) {
      codec.free();
      return;
    }
    this.#voice = new Voice(codec, {
      heard: (sound) => void this.#link.send(appendAudio(sound)),
      said: (packet) => this.#call.sendAudio(packet),
      started: (response) => this.#tell('output_audio_buffer.started', { response_id: response }),
      stopped: (response) => this.#tell('output_audio_buffer.stopped', { response_id: response }),
      failed: (error) => this.#onFault(error),
    });
    if (this.#link.isOpen) this.#link.send(this.#sessionUpdate());
  }

  /** A back end merges updates by itself, until it is lost: the next one has to know all of them. */
  #update(session: SessionConfig): void {
    const update = ofCaller(session);
    const merged = mergeSessions(this.#session, update);
    if (JSON.stringify(merged).length > MAX_SESSION) {
      this.#tellError('invalid_event', `A session has at most ${MAX_SESSION} characters.`);
      return;
    }
    this.#session = merged;
    this.#toBackend(sessionUpdate(update, this.#voice?.format));
  }

  #onOpened(): void {
    // Formats come first: a back end takes sound for its default until it is told.
    if (this.#voice ?? this.#call.codec === undefined) this.#link.send(this.#sessionUpdate());
    for (const text of this.#forBackend.take()) this.#link.send(text);
  }

  #sessionUpdate(): string {
    return sessionUpdate(this.#session, this.#voice?.format);
  }

  #onMessage(text: string): void {
    const event = readServerEvent(text);
    if (!event) {
      this.#onNoEvent();
      return;
    }
    if (event.kind === 'audio') {
      this.#say(event);
      return;
    }
    this.#toClient(text);
    if (event.kind === 'speech started' && this.#interrupts) this.#interrupt();
    else if (event.kind === 'session') this.#interrupts = event.interrupts;
    else if (event.kind === 'audio done') this.#voice?.finish(event.response);
    else if (event.kind === 'response done') {
      this.#voice?.finish(event.response);
      this.#cut.delete(event.response);
    }
  }

  /** Once a call, or a back end could fill the log. */
  #onNoEvent(): void {
    if (this.#hasSentNoEvent) return;
    this.#hasSentNoEvent = true;
    this.#options.log.warn({ call: this.#call.id }, 'the back end sent what is no event');
  }

  #say({ of, sound }: Extract<ServerEvent, { kind: 'audio' }>): void {
    if (!this.#voice || this.#cut.has(of.response)) return;
    const isFull = !this.#voice.say(of, sound);
    if (isFull && !this.#isFull) {
      this.#options.log.warn({ call: this.#call.id }, 'the back end is too far ahead of the call');
    }
    this.#isFull = isFull;
  }

  /** The client speaks, or wants silence: what is being said ends here. */
  #interrupt(): void {
    const cut = this.#voice?.cut() ?? [];
    for (const utterance of cut) {
      this.#rememberCut(utterance.response);
      this.#link.send(truncateItem(utterance));
    }
    for (const response of new Set(cut.map((it) => it.response))) {
      this.#tell('output_audio_buffer.cleared', { response_id: response });
    }
  }

  #rememberCut(response: string): void {
    this.#cut.add(response);
    if (this.#cut.size <= MAX_CUT) return;
    const [oldest] = this.#cut;
    this.#cut.delete(oldest!);
  }

  #onLost(reason: string): void {
    this.#options.log.warn({ call: this.#call.id, reason }, 'the back end is lost; trying again');
    this.#interrupt();
    this.#tellError('backend_lost', 'The link to the back end broke off; it is opened anew.');
  }

  #fail(reason: string): void {
    if (this.#over || this.#farewell) return;
    // The reason may name addresses that are no client's business.
    this.#tellError('backend_failed', 'The back end is gone for good, so the call ends.');
    this.#farewell = setTimeout(() => this.#call.fail(reason), FAREWELL);
  }

  #tellError(code: string, message: string): void {
    this.#tell('error', { error: { type: 'server_error', code, message, param: null } });
  }

  #tell(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#toClient(JSON.stringify({ type, event_id: `event_${randomUUID()}`, ...fields }));
  }

  #toClient(text: string): void {
    if (this.#channelOpen) this.#call.sendData(EVENTS_CHANNEL, text);
    else this.#forClient.add(text);
  }

  #toBackend(text: string): void {
    if (this.#link.isOpen) this.#link.send(text);
    else if (!this.#forBackend.add(text)) {
      this.#tellError('backend_lost', 'The back end cannot be reached; the event is dropped.');
    }
  }
}

/** The model is the operator's to choose: it decides what a call costs, and stands in the URL of most services. */
function ofCaller(asked: SessionConfig): SessionConfig {
  const { model: _, ...session } = asked;
  return session;
}
