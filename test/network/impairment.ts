/** What one direction of a network does to packets: a seed gives the same again. */
import { Random } from '../../origin/relay/testing/random.ts';

/** Milliseconds that a reordered packet is held beyond its time: two of 20 ms overtake it. */
export const HELD_BACK = 45;

/** Milliseconds of traffic that wait for a rate before more is lost. */
export const QUEUE = 200;

/** Steps of a share: finer than any that can be measured. */
const STEPS = 1_000_000;

export interface ImpairmentOptions {
  /** Share of packets that are lost, 0 to 1; 0 unless given, as the others. */
  readonly loss?: number;
  /** Milliseconds that each packet takes. */
  readonly delay?: number;
  /** Most milliseconds more that each takes; packets do not overtake each other by that. */
  readonly jitter?: number;
  /** Share of those not lost that come {@link HELD_BACK} later, behind packets sent after them. */
  readonly reordered?: number;
  /** Share of those not lost that come twice. */
  readonly duplicated?: number;
  /** Bits per second of UDP payload; {@link QUEUE} of them wait, what comes on top is lost. Endless unless given. */
  readonly rate?: number;
}

/** What became of the packets so far. */
export interface ImpairmentCounts {
  packets: number;
  lost: number;
  /** Lost for want of rate. */
  overflowed: number;
  reordered: number;
  duplicated: number;
  /** Lost while it was cut. */
  cut: number;
}

export class Impairment {
  /** While it is, nothing passes. */
  isCut = false;
  readonly counts: ImpairmentCounts = {
    packets: 0,
    lost: 0,
    overflowed: 0,
    reordered: 0,
    duplicated: 0,
    cut: 0,
  };
  readonly #options: Required<ImpairmentOptions>;
  readonly #random: Random;
  /** When the last bit of all so far has left, in milliseconds. */
  #sentAt = -Infinity;
  /** When the newest packet that kept its place arrives. */
  #newest = -Infinity;

  /** @param seed 32 bits. */
  constructor(options: ImpairmentOptions, seed: number) {
    const none = { loss: 0, delay: 0, jitter: 0, reordered: 0, duplicated: 0, rate: Infinity };
    this.#options = { ...none, ...options };
    this.#random = new Random(seed);
  }

  /**
   * When a packet arrives: never, once, or twice.
   *
   * @param bytes Of its payload. @param now Milliseconds of a steady clock, as are those given back.
   */
  arrivals(bytes: number, now: number): readonly number[] {
    const { counts } = this;
    const { loss, delay, jitter, reordered, duplicated, rate } = this.#options;
    counts.packets++;
    if (this.isCut) {
      counts.cut++;
      return [];
    }
    if (this.#happens(loss)) {
      counts.lost++;
      return [];
    }
    const start = Math.max(now, this.#sentAt);
    if (start - now > QUEUE) {
      counts.overflowed++;
      return [];
    }
    this.#sentAt = start + (bytes * 8 * 1000) / rate;
    const inTime = this.#sentAt + delay + this.#share() * jitter;
    let arrival: number;
    if (this.#happens(reordered)) {
      counts.reordered++;
      arrival = inTime + HELD_BACK;
    } else {
      arrival = Math.max(inTime, this.#newest);
      this.#newest = arrival;
    }
    if (!this.#happens(duplicated)) return [arrival];
    counts.duplicated++;
    return [arrival, arrival + this.#share() * jitter];
  }

  #happens(share: number): boolean {
    return this.#share() < share;
  }

  /** From 0 to just below 1. */
  #share(): number {
    return this.#random.below(STEPS) / STEPS;
  }
}
