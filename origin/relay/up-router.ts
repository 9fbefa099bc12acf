/**
 * Decides where a client's packet goes: by the token of a connectivity check, else by the flow that an
 * earlier check made. The payload is read no further than STUN's USERNAME.
 */
import { STUN_BINDING, readStun, type StunMessage } from '../../protocol/stun.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import {
  UFRAG_LENGTH,
  type Route,
  type UfragCodec,
  type UfragRejection,
} from '../../protocol/ufrag.ts';
import type { Counters, DropReason } from './counters.ts';
import type { FlowTable } from './flow-table.ts';
import type { Hop, NextHops } from './next-hop.ts';

const COLON = 0x3a;
const BINDING_SUCCESS = 0x0101;

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

  constructor(codec: UfragCodec, flows: FlowTable, hops: NextHops, counters: Counters) {
    this.#codec = codec;
    this.#flows = flows;
    this.#hops = hops;
    this.#counters = counters;
  }

  /**
   * @param frame Holds an up frame from `at` to `end`.
   * @param fromPeer It came from another region's relay.
   * @param now Milliseconds since the Unix epoch.
   */
  route(
    frame: Uint8Array,
    at: number,
    end: number,
    fromPeer: boolean,
    now: number,
  ): Hop | DropReason {
    const payload = at + TRUNK_HEADER_LENGTH;
    const first = frame[payload]!;
    if (first <= 3) {
      const message = readStun(frame, payload, end);
      if (!message) return 'malformed-stun';
      if (message.class === 'request' && message.method === STUN_BINDING && message.username) {
        return this.#byToken(frame, at, message, message.username, fromPeer, now);
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
  learn(frame: Uint8Array, at: number, end: number, now: number): void {
    const payload = at + TRUNK_HEADER_LENGTH;
    if (((frame[payload]! << 8) | frame[payload + 1]!) !== BINDING_SUCCESS) return;
    const answer = readStun(frame, payload, end);
    const change = answer && this.#flows.answer(frame, at, answer.transactionId, now);
    if (change === 'moved') this.#counters.repointing();
  }

  #byFlow(frame: Uint8Array, at: number, fromPeer: boolean, now: number): Hop | DropReason {
    if (!this.#flows.find(frame, at, now)) return 'no-flow';
    if (this.#flows.found.expiresAt <= now) return 'expired';
    this.#flows.touch(now);
    return this.#hops.next(this.#flows.found, frame, at, fromPeer);
  }

  #byToken(
    frame: Uint8Array,
    at: number,
    message: StunMessage,
    username: Uint8Array,
    fromPeer: boolean,
    now: number,
  ): Hop | DropReason {
    if (username[UFRAG_LENGTH] !== COLON) {
      this.#counters.tokenChecks.count('malformed', 0);
      return 'malformed-ufrag';
    }
    const { found } = this.#flows;
    const known = this.#flows.find(frame, at, now, username) && found.hasToken;
    if (known) this.#counters.tokenChecks.count('known', username[0]!);
    const route = known ? found : this.#open(username, now);
    if (typeof route === 'string') return route;
    if (route.expiresAt <= now) return 'expired';
    const hop = this.#hops.next(route, frame, at, fromPeer);
    if (typeof hop === 'string') return hop;

    if (known && found.proven) {
      this.#flows.touch(now);
      return hop;
    }
    return this.#flows.check(frame, at, route, username, message.transactionId, now) ?? hop;
  }

  #open(username: Uint8Array, now: number): Route | DropReason {
    const opened = this.#codec.open(username, now, 0, UFRAG_LENGTH);
    this.#counters.tokenChecks.count(opened.ok ? 'ok' : opened.reason, username[0]!);
    return opened.ok ? opened.route : REJECTIONS[opened.reason];
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
