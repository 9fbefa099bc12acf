/** Datagrams of the trunk for fuzzing: what peers send, and what a peer that lies or fails might. */
import {
  TRUNK_CLIENT,
  TRUNK_CLIENT_PORT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LENGTH,
  setTrunkFlags,
  setTrunkLength,
  writeTrunkHeader,
} from '../../../protocol/trunk.ts';
import { MAX_CLIENT_PACKET } from '../packet-batch.ts';
import type { Hop } from '../next-hop.ts';
import type { FuzzClient } from './fuzz-client.ts';
import type { Random } from './random.ts';

/** Frames of one datagram, at most; with the largest payloads they still fit one. */
const MAX_FRAMES = 4;

/** Frames that went up and may still be answered. */
const REMEMBERED = 512;

const REMEMBERED_LENGTH = TRUNK_HEADER_LENGTH + 20;

export interface FuzzTrunkOptions {
  readonly random: Random;
  readonly client: FuzzClient;
  /** Where clients are, as frames name them. */
  readonly clients: readonly Hop[];
  /** What frames may name as their proxy: the relay itself, its peers, strangers. */
  readonly proxies: readonly Hop[];
  readonly listeners: readonly number[];
  /** Datagrams to start from, of which none is longer than {@link FUZZ_TRUNK_LENGTH} less a tail. */
  readonly seeds: readonly Buffer[];
}

export class FuzzTrunk {
  readonly #options: FuzzTrunkOptions;
  readonly #sent = Buffer.alloc(REMEMBERED * REMEMBERED_LENGTH);
  #sentCount = 0;

  constructor(options: FuzzTrunkOptions) {
    this.#options = options;
  }

  /** To be told of frames that the relay sent up, so that they can be answered. */
  remember(frame: Uint8Array, start: number, end: number): void {
    if (end - start < REMEMBERED_LENGTH) return;
    const place = (this.#sentCount++ % REMEMBERED) * REMEMBERED_LENGTH;
    this.#sent.set(frame.subarray(start, start + REMEMBERED_LENGTH), place);
  }

  /** Writes one to `out`. @returns Its length. */
  write(out: Buffer): number {
    const { random, seeds } = this.#options;
    if (random.once(16)) {
      const end = random.pick(seeds).copy(out);
      return random.once(4) ? this.#bend(out, end) : end;
    }
    let end = 0;
    for (let left = 1 + random.skewed(MAX_FRAMES); left > 0; left--) {
      end = this.#sentCount > 0 && random.once(2) ? this.#answer(out, end) : this.#frame(out, end);
    }
    return random.once(4) ? this.#bend(out, end) : end;
  }

  /** What a transceiver sends: the header of an up frame, the other way round. */
  #answer(out: Buffer, at: number): number {
    const { random, client } = this.#options;
    const place = random.below(Math.min(this.#sentCount, REMEMBERED)) * REMEMBERED_LENGTH;
    const payload = at + TRUNK_HEADER_LENGTH;
    this.#sent.copy(out, at, place, place + TRUNK_HEADER_LENGTH);
    const end = random.once(4)
      ? client.write(out, payload)
      : client.writeSuccess(out, payload, this.#sent, place + TRUNK_HEADER_LENGTH + 8);
    setTrunkFlags(out, at, TRUNK_DOWN);
    setTrunkLength(out, at, end - payload);
    return end;
  }

  #frame(out: Buffer, at: number): number {
    const { random, client, clients, proxies, listeners } = this.#options;
    const payload = at + TRUNK_HEADER_LENGTH;
    const end = client.write(out, payload);
    const from = random.pick(clients);
    const proxy = random.pick(proxies);
    writeTrunkHeader(
      out,
      at,
      random.below(4),
      random.pick(listeners),
      end - payload,
      from.address,
      0,
      random.once(16) ? 0 : from.port,
      proxy.address,
      0,
      proxy.port,
    );
    return end;
  }

  #bend(out: Buffer, length: number): number {
    const { random } = this.#options;
    switch (random.below(6)) {
      case 0:
        return random.below(length);
      case 1: {
        const tail = random.below(2 * TRUNK_HEADER_LENGTH);
        random.fill(out, length, length + tail);
        return length + tail;
      }
      case 2:
        out.writeUInt16BE(random.skewed(65_536), TRUNK_LENGTH);
        return length;
      case 3:
        random.fill(out, TRUNK_CLIENT, TRUNK_HEADER_LENGTH);
        return length;
      case 4:
        out.writeUInt16BE(random.below(65_536), TRUNK_CLIENT_PORT);
        return length;
      default:
        out[random.below(length)] = random.below(256);
        return length;
    }
  }
}

/** Bytes that {@link FuzzTrunk.write} needs. */
export const FUZZ_TRUNK_LENGTH =
  MAX_FRAMES * (TRUNK_HEADER_LENGTH + MAX_CLIENT_PACKET) + 2 * TRUNK_HEADER_LENGTH;
