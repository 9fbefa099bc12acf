/**
 * Packets without a flow that wait a moment, in one thread, while the flow is looked for elsewhere. There
 * are few of them however many come, and what does not fit is not waited for.
 */
import { TRUNK_HEADER_LENGTH } from '../../../protocol/trunk.ts';
import { copyBytes } from '../bytes.ts';
import type { Counters } from '../counters.ts';
import { FlowKey } from '../flow-key.ts';
import { HASH_KEY, type FlowMemory } from '../flow-memory.ts';
import { KeyedHash } from '../keyed-hash.ts';
import { AbsentHashes } from './absent-hashes.ts';
import { TokenBucket, type Rate } from './token-bucket.ts';

/** Packets held for one flow. */
export const MAX_HELD_OF_FLOW = 8;

/** Packets held in all. */
export const MAX_HELD = 1_024;

/** Bytes held in all. */
export const MAX_HELD_BYTES = 1024 * 1024;

/** Milliseconds a packet is held: voice that comes later is of no use. */
export const HOLD_TIME = 150;

/** Flows looked for at a time. */
export const MAX_WAITS = 8_192;

/** Flows one thread asks for: those of a busy thread at once after a restart, few when strangers send. */
export const ASK_RATE: Rate = { burst: 8_192, perSecond: 2_000 };

/** Flows in one request: as many as a batch has packets. */
const ASK_BATCH = 64;

/**
 * Looks for flows, and says so to the forwarder whatever came of it.
 *
 * @param headers The flows' trunk headers, one behind the other; the callee's from then on.
 */
export type AskForFlows = (headers: Uint8Array) => void;

/** A whole up frame. */
export interface HeldPacket {
  readonly frame: Uint8Array;
  readonly fromPeer: boolean;
}

interface Wait {
  readonly until: number;
  readonly packets: HeldPacket[];
}

const NONE: readonly HeldPacket[] = [];

export class HeldPackets {
  readonly #ask: AskForFlows;
  readonly #counters: Counters;
  readonly #key: FlowKey;
  readonly #absent = new AbsentHashes();
  readonly #bucket = new TokenBucket(ASK_RATE);
  /**
   * By the hash of the flow, the oldest first. Should two flows share one, the second is not asked for;
   * its packets go by their own headers all the same.
   */
  readonly #waits = new Map<number, Wait>();
  readonly #asking = new Uint8Array(ASK_BATCH * TRUNK_HEADER_LENGTH);
  #askingLength = 0;
  #held = 0;
  #heldBytes = 0;

  /** @param flows The table that lacks the flows. */
  constructor(ask: AskForFlows, flows: FlowMemory, counters: Counters) {
    this.#ask = ask;
    this.#counters = counters;
    this.#key = new FlowKey(new KeyedHash(new Int32Array(flows.control), HASH_KEY));
  }

  /** Packets held now. */
  get count(): number {
    return this.#held;
  }

  /**
   * Keeps a copy of the up frame, and asks for its flow if need be.
   *
   * @param now Milliseconds of a clock that never goes back.
   * @returns False when the packet is not held.
   */
  hold(frame: Uint8Array, at: number, end: number, fromPeer: boolean, now: number): boolean {
    this.#key.read(frame, at);
    const { hash } = this.#key;
    const wait = this.#waits.get(hash) ?? this.#startWait(hash, frame, at, now);
    if (!wait || wait.packets.length >= MAX_HELD_OF_FLOW) return false;
    if (this.#held >= MAX_HELD || this.#heldBytes + end - at > MAX_HELD_BYTES) return false;
    wait.packets.push({ frame: copyBytes(frame, at, end), fromPeer });
    this.#held++;
    this.#heldBytes += end - at;
    this.#counters.held();
    return true;
  }

  /** Sends off what is to be asked; to be called after each batch of packets. */
  flush(): void {
    if (this.#askingLength === 0) return;
    const headers = copyBytes(this.#asking, 0, this.#askingLength);
    this.#askingLength = 0;
    this.#ask(headers);
  }

  /** Hands over the packets of the flow whose header is at `at`: it has been looked for. */
  settle(headers: Uint8Array, at: number, now: number): readonly HeldPacket[] {
    this.#key.read(headers, at);
    const { hash } = this.#key;
    const wait = this.#waits.get(hash);
    if (!wait) return NONE;
    // Where the flow is in the table now, nobody comes to ask.
    this.#endWait(hash, wait, now);
    return wait.packets;
  }

  /** Drops what has waited for too long. */
  expire(now: number): void {
    for (const [hash, wait] of this.#waits) {
      if (wait.until > now) return;
      this.#endWait(hash, wait, now);
      for (let i = 0; i < wait.packets.length; i++) this.#counters.drop('no-flow');
    }
  }

  #startWait(hash: number, frame: Uint8Array, at: number, now: number): Wait | undefined {
    if (this.#absent.has(hash, now) || this.#waits.size >= MAX_WAITS) return undefined;
    if (!this.#bucket.take(now)) return undefined;
    const wait = { until: now + HOLD_TIME, packets: [] };
    this.#waits.set(hash, wait);
    this.#counters.lookedUp();
    if (this.#askingLength === this.#asking.length) this.flush();
    const header = frame.subarray(at, at + TRUNK_HEADER_LENGTH);
    this.#asking.set(header, this.#askingLength);
    this.#askingLength += TRUNK_HEADER_LENGTH;
    return wait;
  }

  #endWait(hash: number, { packets }: Wait, now: number): void {
    this.#waits.delete(hash);
    this.#absent.add(hash, now);
    this.#held -= packets.length;
    for (const { frame } of packets) this.#heldBytes -= frame.length;
  }
}
