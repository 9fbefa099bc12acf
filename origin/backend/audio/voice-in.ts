/** What a client says, as one unbroken sound: lost packets are concealed, silence that was not sent is filled. */
import type { ReceivedAudio } from '../backend.ts';
import { FRAME_MS, type VoiceCodec } from './codec.ts';
import { JitterBuffer, MAX_WAIT, type JitterCounters } from './jitter-buffer.ts';

/** Milliseconds of lost sound that is guessed at in a row; silence follows. */
const MAX_CONCEALED = 100;

/** Milliseconds of silence put in for a gap at once; a longer one is cut short. */
const MAX_FILLED = 1_000;

/** Milliseconds without a packet after which the sound goes on without them. */
const SILENT_AFTER = MAX_WAIT + FRAME_MS;

/**
 * Milliseconds of sound that may be heard for each one of the clock, and that many more at once. A
 * network that stalls and catches up stays far below; a client that lies about time does not.
 */
const MAX_PACE = 2;
const MAX_BURST = 5_000;

export class VoiceIn {
  readonly #codec: VoiceCodec;
  readonly #jitter: JitterBuffer;
  readonly #takeSound: (sound: Uint8Array) => void;
  /** RTP time at which the next packet's sound begins. */
  #expected: number | undefined;
  #lastHeardAt = 0;
  #packetMs = FRAME_MS;
  /** Milliseconds of sound made up since the last packet. */
  #madeUp = 0;
  /** Milliseconds of sound heard beyond the pace, and when that was counted. */
  #ahead = 0;
  #countedAt = 0;

  /** @param hear Takes sound of the codec's format, in order. */
  constructor(codec: VoiceCodec, hear: (sound: Uint8Array) => void) {
    this.#codec = codec;
    this.#jitter = new JitterBuffer(codec.ticksPerMs);
    this.#takeSound = hear;
  }

  get counters(): Readonly<JitterCounters> {
    return this.#jitter.counters;
  }

  /** Takes a packet; more of them than there is time for are not even decoded. */
  packet(packet: ReceivedAudio, now: number): void {
    this.#ahead = Math.max(0, this.#ahead - MAX_PACE * (now - this.#countedAt));
    this.#countedAt = now;
    if (this.#ahead > MAX_BURST) return;
    this.#jitter.push(packet, now);
    this.#release(now);
  }

  /** To be called once per frame: sound goes on where no packets come. */
  tick(now: number): void {
    this.#release(now);
    if (this.#expected === undefined) return;
    // At the pace of the clock, however many frames it skipped; but not all that a process slept through.
    this.#lastHeardAt = Math.max(this.#lastHeardAt, now - MAX_FILLED);
    while (now - this.#lastHeardAt >= SILENT_AFTER) {
      this.#makeUp(FRAME_MS);
      this.#lastHeardAt += FRAME_MS;
    }
  }

  #release(now: number): void {
    for (let next = this.#jitter.pull(now); next; next = this.#jitter.pull(now)) {
      const { lost, packet } = next;
      if (lost > 0) this.#fillLoss(lost, packet);
      else this.#fillSilence(packet);
      const sound = this.#codec.decode(packet.payload);
      if (sound) {
        this.#packetMs = sound.length / this.#codec.bytesPerMs;
        this.#hear(sound);
      } else this.#makeUp(this.#packetMs);
      this.#madeUp = 0;
      this.#lastHeardAt = now;
      this.#expected = (packet.timestamp + this.#packetMs * this.#codec.ticksPerMs) >>> 0;
    }
  }

  /** Some of it may have been made up while it was missing. */
  #fillLoss(lost: number, next: ReceivedAudio): void {
    let missing = Math.min(MAX_FILLED, lost * this.#packetMs) - this.#madeUp;
    while (missing > this.#packetMs) {
      // Never in steps as small as a packet may be, each of which costs an event.
      const step = Math.min(missing - this.#packetMs, Math.max(FRAME_MS, this.#packetMs));
      this.#makeUp(step);
      missing -= step;
    }
    if (missing > 0) this.#hear(this.#codec.recover(next.payload, this.#packetMs));
  }

  /** A sender may leave silence out (RFC 7587 §3.1.3): only the timestamp tells. */
  #fillSilence({ timestamp }: ReceivedAudio): void {
    const ticks = (timestamp - (this.#expected ?? timestamp)) | 0;
    const missing = Math.min(MAX_FILLED, ticks / this.#codec.ticksPerMs) - this.#madeUp;
    if (missing > 0) this.#hear(this.#codec.silence(Math.round(missing)));
  }

  #makeUp(ms: number): void {
    const guessing = this.#madeUp < MAX_CONCEALED;
    this.#hear(guessing ? this.#codec.conceal(ms) : this.#codec.silence(ms));
    this.#madeUp += ms;
  }

  #hear(sound: Uint8Array): void {
    this.#ahead += sound.length / this.#codec.bytesPerMs;
    this.#takeSound(sound);
  }
}
