/**
 * Decides where a client's packet goes: by the token of a connectivity check, else by the flow that an
 * earlier check made. The payload is read no further than STUN's USERNAME.
 */
import { BINDING_REQUEST, BINDING_SUCCESS, StunReader } from '../../protocol/stun.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import {
  UFRAG_LENGTH,
  type RouteSlot,
  type UfragCodec,
  type UfragRejection,
} from '../../protocol/ufrag.ts';
import type { Counters, DropReason } from './counters.ts';
import type { FlowTable } from './flow-table.ts';
import type { Moment } from './moment.ts';
import type { Hop, NextHops } from './next-hop.ts';

const COLON = 0x3a;

const REJECTIONS: Readonly<Record<UfragRejection, DropReason>> = {
  malformed: 'malformed-ufrag',
  'unknown-key': 'unknown-key',
  forged: 'forged',
  expired: 'expired',
};

export class UpRouter {
  readonly #codec: UfragCodec;
  readonly #flows: FlowTable;
  readonly #hops: NextHops;
  readonly #counters: Counters;
  readonly #stun = new StunReader();
  /** What the token of the packet at hand says. */
  readonly #opened: RouteSlot = { cluster: 0, transceiver: 0, expiresAt: Date.now() };

  constructor(codec: UfragCodec, flows: FlowTable, hops: NextHops, counters: Counters) {
    this.#codec = codec;
    this.#flows = flows;
    this.#hops = hops;
    this.#counters = counters;
  }

  /**
   * @param frame Holds an up frame from `at` to `end`.
   * @param fromPeer It came from another region's relay.
   */
  route(
    frame: Uint8Array,
    at: number,
    end: number,
    fromPeer: boolean,
    now: Moment,
  ): Hop | DropReason {
    const payload = at + TRUNK_HEADER_LENGTH;
    const first = frame[payload]!;
    if (first <= 3) {
      const stun = this.#stun;
      if (!stun.read(frame, payload, end)) return 'malformed-stun';
      if (stun.type === BINDING_REQUEST && stun.username >= 0) {
        return this.#byToken(frame, at, fromPeer, now);
      }
    } else if (!isDtls(first) && !isRtp(first)) {
      return 'not-media';
    }
    return this.#byFlow(frame, at, fromPeer, now);
  }

  /**
   * Learns from a packet on its way to the client: the answer to a check proves its flow, or points it
   * to whoever answered. A token alone must not do that, or anyone who holds one could take over a
   * client's flow without seeing its packets.
   *
   * @param frame Holds a down frame from `at` to `end`.
   */
  learn(frame: Uint8Array, at: number, end: number, now: Moment): void {
    const payload = at + TRUNK_HEADER_LENGTH;
    if (((frame[payload]! << 8) | frame[payload + 1]!) !== BINDING_SUCCESS) return;
    if (!this.#stun.read(frame, payload, end)) return;
    const change = this.#flows.answer(frame, at, frame, now, this.#stun.transactionId);
    if (change === 'moved') this.#counters.repointing();
  }

  #byFlow(frame: Uint8Array, at: number, fromPeer: boolean, now: Moment): Hop | DropReason {
    if (!this.#flows.find(frame, at, now.steady)) return 'no-flow';
    if (this.#flows.found.expiresAt <= now.wall) return 'expired';
    this.#flows.touch(now.steady);
    return this.#hops.next(this.#flows.found, frame, at, fromPeer);
  }

  /** The packet is the check just read. */
  #byToken(frame: Uint8Array, at: number, fromPeer: boolean, now: Moment): Hop | DropReason {
    const { username, usernameEnd, transactionId } = this.#stun;
    if (usernameEnd - username <= UFRAG_LENGTH || frame[username + UFRAG_LENGTH] !== COLON) {
      this.#counters.tokenChecks.count('malformed', 0);
      return 'malformed-ufrag';
    }
    const { found } = this.#flows;
    const known = this.#flows.find(frame, at, now.steady, frame, username) && found.hasToken;
    if (known) {
      this.#counters.tokenChecks.count('known', frame[username]!);
    } else {
      const refusal = this.#open(frame, username, now);
      if (refusal !== undefined) return refusal;
    }
    const route = known ? found : this.#opened;
    if (route.expiresAt <= now.wall) return 'expired';
    const hop = this.#hops.next(route, frame, at, fromPeer);
    if (typeof hop === 'string') return hop;

    if (known && found.proven) {
      this.#flows.touch(now.steady);
      return hop;
    }
    return (
      this.#flows.check(frame, at, route, frame, frame, now.steady, username, transactionId) ?? hop
    );
  }

  #open(frame: Uint8Array, username: number, now: Moment): DropReason | undefined {
    const read = this.#codec.read(this.#opened, frame, username);
    const refusal = read ?? (this.#opened.expiresAt <= now.wall ? 'expired' : undefined);
    this.#counters.tokenChecks.count(refusal ?? 'ok', frame[username]!);
    return refusal && REJECTIONS[refusal];
  }
}

/** RFC 7983 §7. */
function isDtls(first: number): boolean {
  return first >= 20 && first <= 63;
}

/** RFC 7983 §7; RTCP too. */
function isRtp(first: number): boolean {
  return first >= 128 && first <= 191;
}
