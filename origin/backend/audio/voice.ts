/** Both voices of a call on one clock: what the client says, and what is said to it. */
import type { AudioPacket, ReceivedAudio } from '../backend.ts';
import { FRAME_MS, type SoundFormat, type VoiceCodec } from './codec.ts';
import { FrameClock } from './frame-clock.ts';
import type { JitterCounters } from './jitter-buffer.ts';
import { VoiceIn } from './voice-in.ts';
import { VoiceOut, type CutUtterance, type Utterance } from './voice-out.ts';

export interface VoiceEvents {
  /** What the client said: sound of the codec's format. */
  heard(sound: Uint8Array): void;
  /** A packet for the client. */
  said(packet: AudioPacket): void;
  /** The first sound of a response is played, and the last was. */
  started(response: string): void;
  stopped(response: string): void;
  /** The clock came upon an error and has stopped. */
  failed(error: unknown): void;
}

export class Voice {
  readonly format: SoundFormat;
  readonly #codec: VoiceCodec;
  readonly #in: VoiceIn;
  readonly #out: VoiceOut;
  readonly #clock: FrameClock;
  #open = true;

  /** @param codec Its own from now on. */
  constructor(codec: VoiceCodec, events: VoiceEvents) {
    this.#codec = codec;
    this.format = codec.format;
    this.#in = new VoiceIn(codec, (sound) => events.heard(sound));
    const ticks = FRAME_MS * codec.ticksPerMs;
    this.#out = new VoiceOut(codec, {
      frame: (payload, frame, isFirst) =>
        events.said({ payload, timestamp: (frame * ticks) >>> 0, marker: isFirst }),
      started: (response) => events.started(response),
      stopped: (response) => events.stopped(response),
    });
    this.#clock = new FrameClock((frame) => {
      try {
        this.#in.tick(performance.now());
        if (this.#open) this.#out.tick(frame);
      } catch (error) {
        this.#clock.stop();
        events.failed(error);
      }
    });
  }

  /** Packets of the client that were given up, and that came too late. */
  get counters(): Readonly<JitterCounters> {
    return this.#in.counters;
  }

  receive(packet: ReceivedAudio): void {
    if (this.#open) this.#in.packet(packet, performance.now());
  }

  /** False when too much waits already. */
  say(of: Utterance, sound: Uint8Array): boolean {
    return this.#out.push(of, sound);
  }

  /** No more sound of that response will come. */
  finish(response: string): void {
    this.#out.finish(response);
  }

  cut(): CutUtterance[] {
    return this.#out.cut();
  }

  /** May be called again. */
  close(): void {
    this.#open = false;
    this.#clock.stop();
    this.#codec.free();
  }
}
