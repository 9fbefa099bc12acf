/** What a back end says: sound that comes in any pace, and leaves a frame at a time. */
import { FRAME_MS, type VoiceCodec } from './codec.ts';

/** Milliseconds of sound that wait at most; a back end speaks faster than people listen. */
export const MAX_QUEUED = 300_000;

/** Pieces of it: as many as there are frames; a back end that sends single samples is no back end. */
export const MAX_PIECES = MAX_QUEUED / FRAME_MS;

/** Frames of silence after the last sound, so that a client's decoder need not guess how it ends. */
const TAIL_FRAMES = 5;

/** Which part of a conversation a sound is. */
export interface Utterance {
  readonly response: string;
  readonly item: string;
  /** Index of the content in its item. */
  readonly content: number;
}

/** An utterance that was cut off, with the milliseconds of it that were played. */
export interface CutUtterance extends Utterance {
  readonly playedMs: number;
}

export interface VoiceOutEvents {
  /** A frame to send, numbered by the clock. */
  frame(payload: Uint8Array, frame: number, isFirst: boolean): void;
  started(response: string): void;
  stopped(response: string): void;
}

interface Piece {
  readonly of: Utterance;
  readonly sound: Uint8Array;
  at: number;
}

export class VoiceOut {
  readonly #codec: VoiceCodec;
  readonly #events: VoiceOutEvents;
  readonly #frameBytes: number;
  readonly #queue: Piece[] = [];
  /** Bytes that wait. */
  #queued = 0;
  /** What is being played, and how many bytes of it were. */
  #playing: { readonly of: Utterance; bytes: number } | undefined;
  /** Responses of which no more sound will come. */
  readonly #finished = new Set<string>();
  #tail = 0;
  #spoke = false;

  constructor(codec: VoiceCodec, events: VoiceOutEvents) {
    this.#codec = codec;
    this.#events = events;
    this.#frameBytes = FRAME_MS * codec.bytesPerMs;
  }

  /** False when too much waits already. */
  push(of: Utterance, sound: Uint8Array): boolean {
    if (sound.length === 0) return true;
    if (this.#queue.length >= MAX_PIECES) return false;
    if (this.#queued + sound.length > MAX_QUEUED * this.#codec.bytesPerMs) return false;
    this.#queue.push({ of, sound, at: 0 });
    this.#queued += sound.length;
    return true;
  }

  /** No more sound of that response will come. */
  finish(response: string): void {
    const waits = this.#queue.some(({ of }) => of.response === response);
    if (waits || this.#playing?.of.response === response) this.#finished.add(response);
  }

  /** Sends the frame that is due. */
  tick(frame: number): void {
    const head = this.#queue[0];
    if (!head) this.#rest(frame);
    else if (this.#queued >= this.#frameBytes || this.#finished.has(head.of.response)) {
      this.#send(this.#take(), frame);
      this.#tail = TAIL_FRAMES;
    }
  }

  /** Stops at once and forgets what waits; tells what was cut off, in the order it would have been heard. */
  cut(): CutUtterance[] {
    const cut = new Map<string, CutUtterance>();
    const playing = this.#playing;
    if (playing && this.#hasStopped(playing.of.response)) this.#events.stopped(playing.of.response);
    else if (playing) cut.set(keyOf(playing.of), this.#cutOff(playing));
    for (const { of } of this.#queue) {
      const key = keyOf(of);
      if (!cut.has(key)) cut.set(key, this.#cutOff({ of, bytes: 0 }));
    }
    this.#queue.length = 0;
    this.#queued = 0;
    this.#playing = undefined;
    this.#finished.clear();
    return [...cut.values()];
  }

  #cutOff({ of, bytes }: { of: Utterance; bytes: number }): CutUtterance {
    return { ...of, playedMs: Math.floor(bytes / this.#codec.bytesPerMs) };
  }

  #hasStopped(response: string): boolean {
    return this.#queue.length === 0 && this.#finished.has(response);
  }

  /** Nothing waits: ends what was said, and lets it fade. */
  #rest(frame: number): void {
    const response = this.#playing?.of.response;
    if (response !== undefined && this.#finished.delete(response)) {
      this.#playing = undefined;
      this.#events.stopped(response);
    }
    if (this.#tail === 0) {
      this.#spoke = false;
      return;
    }
    this.#tail--;
    this.#send(this.#codec.silence(FRAME_MS), frame);
  }

  #send(sound: Uint8Array, frame: number): void {
    this.#events.frame(this.#codec.encode(sound), frame, !this.#spoke);
    this.#spoke = true;
  }

  /** One frame of what waits, ended by silence where that is less. */
  #take(): Uint8Array {
    const frame = this.#codec.silence(FRAME_MS);
    for (let filled = 0; filled < frame.length && this.#queue[0];) {
      const piece = this.#queue[0];
      this.#play(piece.of);
      const part = piece.sound.subarray(piece.at, piece.at + frame.length - filled);
      frame.set(part, filled);
      filled += part.length;
      piece.at += part.length;
      this.#queued -= part.length;
      this.#playing!.bytes += part.length;
      if (piece.at === piece.sound.length) this.#queue.shift();
    }
    return frame;
  }

  #play(of: Utterance): void {
    const before = this.#playing?.of;
    if (before && isSame(before, of)) return;
    this.#playing = { of, bytes: 0 };
    if (before?.response === of.response) return;
    if (before && this.#finished.delete(before.response)) this.#events.stopped(before.response);
    this.#events.started(of.response);
  }
}

function isSame(a: Utterance, b: Utterance): boolean {
  return a.response === b.response && a.item === b.item && a.content === b.content;
}

const keyOf = ({ response, item, content }: Utterance): string =>
  JSON.stringify([response, item, content]);
