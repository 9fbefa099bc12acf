/**
 * Puts a client's packets in order. A packet in order leaves at once; one after a gap waits for what is
 * missing, a little longer where the network is uneven, and then what is missing is lost.
 */
import type { ReceivedAudio } from '../backend.ts';

/** Milliseconds a gap is waited for, on an even and on an uneven network. */
export const MIN_WAIT = 20;
export const MAX_WAIT = 60;

/** Packets held at most: a second of 20 ms ones. */
export const MAX_HELD = 50;

/** Sequence numbers behind and ahead that are still of the same stream (RFC 3550 A.1). */
const MAX_MISORDER = 100;
const MAX_DROPOUT = 3_000;

/** How much one packet changes the estimate of jitter (RFC 3550 §6.4.1), and how much of it is waited for. */
const JITTER_GAIN = 1 / 16;
const JITTER_WEIGHT = 4;

/** The next packets to be heard, with how many before them were lost. */
export interface Release {
  readonly lost: number;
  readonly packet: ReceivedAudio;
}

export interface JitterCounters {
  /** Packets given up. */
  lost: number;
  /** Packets that came after they were given up, or twice. */
  late: number;
}

interface Held {
  readonly packet: ReceivedAudio;
  readonly arrivedAt: number;
}

export class JitterBuffer {
  readonly counters: JitterCounters = { lost: 0, late: 0 };
  readonly #ticksPerMs: number;
  readonly #held = new Map<number, Held>();
  #next: number | undefined;
  #jitter = 0;
  #lastTransit: number | undefined;

  /** @param ticksPerMs Of the RTP clock. */
  constructor(ticksPerMs: number) {
    this.#ticksPerMs = ticksPerMs;
  }

  /** Milliseconds that a gap is waited for now. */
  get wait(): number {
    return Math.min(MAX_WAIT, MIN_WAIT + JITTER_WEIGHT * this.#jitter);
  }

  /** @param now Milliseconds of a steady clock. */
  push(packet: ReceivedAudio, now: number): void {
    this.#next ??= packet.sequenceNumber;
    const ahead = distance(packet.sequenceNumber, this.#next);
    if (ahead < -MAX_MISORDER || ahead > MAX_DROPOUT) this.#restart(packet);
    else if (ahead < 0 || this.#held.has(packet.sequenceNumber)) {
      this.counters.late++;
      return;
    }
    this.#measure(packet, now);
    // The payload may lie in a buffer that the next packet takes.
    const kept = { ...packet, payload: new Uint8Array(packet.payload) };
    this.#held.set(packet.sequenceNumber, { packet: kept, arrivedAt: now });
  }

  /** Takes the next packet that need not wait any more; undefined when there is none. */
  pull(now: number): Release | undefined {
    if (this.#held.size === 0) return undefined;
    let sequenceNumber = this.#next!;
    while (!this.#held.has(sequenceNumber)) sequenceNumber = (sequenceNumber + 1) & 0xffff;
    const { packet, arrivedAt } = this.#held.get(sequenceNumber)!;
    const lost = distance(sequenceNumber, this.#next!);
    const mayWait = lost > 0 && this.#held.size < MAX_HELD;
    if (mayWait && now - arrivedAt < this.wait) return undefined;
    this.#held.delete(sequenceNumber);
    this.#next = (sequenceNumber + 1) & 0xffff;
    this.counters.lost += lost;
    return { lost, packet };
  }

  /** A sender that starts anew has another stream, of which nothing is lost yet. */
  #restart(packet: ReceivedAudio): void {
    this.#held.clear();
    this.#lastTransit = undefined;
    this.#next = packet.sequenceNumber;
  }

  #measure({ timestamp }: ReceivedAudio, now: number): void {
    const transit = now - timestamp / this.#ticksPerMs;
    const change = Math.abs(transit - (this.#lastTransit ?? transit));
    this.#lastTransit = transit;
    // Silence that was not sent and a wrapped timestamp are no jitter.
    if (change < 10 * MAX_WAIT) this.#jitter += (change - this.#jitter) * JITTER_GAIN;
  }
}

/** Sequence numbers from `b` to `a`, the short way around. */
function distance(a: number, b: number): number {
  return ((a - b) << 16) >> 16;
}
