/**
 * Decides where a client's packet goes: by the token of a connectivity check, else by the flow that an
 * earlier check made. The payload is read no further than STUN's USERNAME.
 */
import { STUN_BINDING, readStun, type StunMessage } from '../../protocol/stun.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import { UFRAG_LENGTH, type UfragCodec, type UfragRejection } from '../../protocol/ufrag.ts';
import { copyBytes, sameBytes } from './bytes.ts';
import type { DropReason } from './counters.ts';
import type { FlowTable } from './flow-table.ts';
import type { Flow, FlowRoute } from './flow.ts';
import type { Hop, NextHops } from './next-hop.ts';
import { PendingChecks } from './pending-checks.ts';

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
  #repointings = 0;

  constructor(codec: UfragCodec, flows: FlowTable, hops: NextHops) {
    this.#codec = codec;
    this.#flows = flows;
    this.#hops = hops;
  }

  /** Proven flows that moved to another transceiver. */
  get repointings(): number {
    return this.#repointings;
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
    const flow = this.#flows.find(frame, at);
    const answer = flow?.pending && readStun(frame, payload, end);
    const route = answer && flow.pending?.answered(answer.transactionId, now);
    if (!route) return;
    if (flow.proven && !sameTarget(flow.route, route)) this.#repointings++;
    flow.route = route;
    flow.pending = undefined;
    this.#flows.prove(flow, now);
  }

  #byFlow(frame: Uint8Array, at: number, fromPeer: boolean, now: number): Hop | DropReason {
    const flow = this.#flows.find(frame, at);
    if (!flow) return 'no-flow';
    if (flow.route.expiresAt <= now) return 'expired';
    this.#flows.touch(flow, now);
    return this.#hops.next(flow.route, frame, at, fromPeer);
  }

  #byToken(
    frame: Uint8Array,
    at: number,
    message: StunMessage,
    username: Uint8Array,
    fromPeer: boolean,
    now: number,
  ): Hop | DropReason {
    if (username[UFRAG_LENGTH] !== COLON) return 'malformed-ufrag';
    const flow = this.#flows.find(frame, at);
    const known = flow && hasToken(flow, username) ? flow.route : undefined;
    const route = known ?? this.#open(username, now);
    if (typeof route === 'string') return route;
    if (route.expiresAt <= now) return 'expired';
    const hop = this.#hops.next(route, frame, at, fromPeer);
    if (typeof hop === 'string') return hop;

    if (flow && known && flow.proven) {
      this.#flows.touch(flow, now);
      return hop;
    }
    const awaiting = flow ?? this.#flows.open(frame, at, route, now);
    if (!awaiting) return 'tentative-limit';
    if (!awaiting.proven) awaiting.route = route;
    awaiting.pending ??= new PendingChecks();
    awaiting.pending.add(message.transactionId, route, now);
    return hop;
  }

  #open(username: Uint8Array, now: number): FlowRoute | DropReason {
    const opened = this.#codec.open(username, now, 0, UFRAG_LENGTH);
    if (!opened.ok) return REJECTIONS[opened.reason];
    return { ...opened.route, ufrag: copyBytes(username, 0, UFRAG_LENGTH) };
  }
}

function hasToken(flow: Flow, username: Uint8Array): boolean {
  return sameBytes(flow.route.ufrag, 0, username, 0, UFRAG_LENGTH);
}

function sameTarget(a: FlowRoute, b: FlowRoute): boolean {
  return a.cluster === b.cluster && a.transceiver === b.transceiver;
}

/** RFC 7983 §7. */
function isDtls(first: number): boolean {
  return first >= 20 && first <= 63;
}

/** RFC 7983 §7; RTCP too. */
function isRtp(first: number): boolean {
  return first >= 128 && first <= 191;
}
