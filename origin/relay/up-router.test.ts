import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { Counters } from './counters.ts';
import { FLOW_LIMITS, flowMemory, type FlowLimits } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { NextHops } from './next-hop.ts';
import { moment } from './testing/flows.ts';
import {
  BINDING_REQUEST,
  DTLS,
  GOOG_PING,
  RTP,
  check,
  makeFrame,
  stun,
  success,
  transactionId,
} from './testing/packets.ts';
import { HOUR, KEY, ufragFor } from './testing/rig.ts';
import { UpRouter } from './up-router.ts';

const START = Date.UTC(2026, 6, 1);
const USERNAME = 0x0006;
/** A comprehension-optional attribute that nobody knows. */
const UNKNOWN = 0xc0de;

/** A router, with a clock that the test turns; its transceivers are 5 and 6. */
function openRouter(limits: Partial<FlowLimits> = {}) {
  const flows = new FlowTable(flowMemory({ ...FLOW_LIMITS, maxFlows: 1000, ...limits }));
  const hops = new NextHops({ cluster: 1, ipv4: true, routes: [] });
  for (const port of [5, 6]) hops.place(port, { address: parseAddress('10.0.0.5'), port });
  const counters = new Counters();
  const router = new UpRouter(new UfragCodec([KEY]), flows, hops, counters);
  const clock = { now: START };

  /** The transceiver that the packet goes to, or why it is dropped. */
  const send = (payload: Buffer, port = 1000): number | string => {
    const frame = upFrame(payload, port);
    const hop = router.route(frame, 0, frame.length, false, moment(clock.now));
    return typeof hop === 'string' ? hop : hop.port;
  };
  const receive = (payload: Buffer, port = 1000): void => {
    const frame = upFrame(payload, port);
    router.learn(frame, 0, frame.length, moment(clock.now));
  };
  const prove = (ufrag: string, port = 1000): void => {
    const id = transactionId();
    send(check(ufrag, id), port);
    receive(success(id), port);
  };
  const flowCount = (): number[] => [flows.tentative, flows.proven];
  return { send, receive, prove, clock, flows, flowCount };
}

/** Payloads may be empty here, as no frame on the wire can be. */
function upFrame(payload: Buffer, port: number): Buffer {
  const frame = makeFrame({
    flags: 0,
    listener: 0,
    client: { address: '192.0.2.1', port },
    proxy: { address: '10.0.0.1', port: 4000 },
    payload,
  });
  expect(frame).toHaveLength(TRUNK_HEADER_LENGTH + payload.length);
  return frame;
}

function goodUfrag(transceiver: number, expiresAt = START + HOUR): string {
  return ufragFor(1, transceiver, expiresAt);
}

describe('bad input', () => {
  const id = transactionId();

  test('STUN cut to 19 bytes is dropped, with a flow or without', () => {
    const { send, prove, flowCount } = openRouter();
    const cut = check(goodUfrag(5)).subarray(0, 19);
    expect(send(cut)).toBe('malformed-stun');
    expect(flowCount()).toEqual([0, 0]);
    prove(goodUfrag(5));
    expect(send(cut)).toBe('malformed-stun');
  });

  test('an attribute that reaches past the end is dropped', () => {
    const { send, flowCount } = openRouter();
    const packet = check(goodUfrag(5), id);
    packet.writeUInt16BE(packet.length, 22);
    expect(send(packet)).toBe('malformed-stun');
    const behind = stun(BINDING_REQUEST, id, [
      [USERNAME, Buffer.from(`${goodUfrag(5)}:client`)],
      [UNKNOWN, Buffer.alloc(4)],
    ]);
    behind.writeUInt16BE(5, behind.length - 6);
    expect(send(behind)).toBe('malformed-stun');
    expect(flowCount()).toEqual([0, 0]);
  });

  test('a check without attributes makes no flow, and follows one that is there', () => {
    const { send, prove, flowCount } = openRouter();
    const bare = stun(BINDING_REQUEST, id, []);
    expect(send(bare)).toBe('no-flow');
    expect(flowCount()).toEqual([0, 0]);
    prove(goodUfrag(5));
    expect(send(bare)).toBe(5);
  });

  test('GOOG_PING makes no flow, and follows one that is there', () => {
    const { send, prove, flowCount } = openRouter();
    const ping = stun(GOOG_PING, id, [[UNKNOWN, Buffer.alloc(4)]]);
    expect(send(ping)).toBe('no-flow');
    const named = stun(GOOG_PING, id, [[USERNAME, Buffer.from(`${goodUfrag(5)}:client`)]]);
    expect(send(named)).toBe('no-flow');
    expect(flowCount()).toEqual([0, 0]);
    prove(goodUfrag(5));
    expect(send(ping)).toBe(5);
  });

  test.each([
    ['before', true],
    ['behind', false],
  ])('a check of 1 kB with unknown attributes %s its USERNAME is routed', (_name, before) => {
    const { send, receive, flowCount } = openRouter();
    const username: [number, Buffer] = [USERNAME, Buffer.from(`${goodUfrag(5)}:client`)];
    const unknown: [number, Buffer][] = [
      [UNKNOWN, Buffer.alloc(701, 1)],
      [UNKNOWN + 1, Buffer.alloc(0)],
      [0x7fff, Buffer.alloc(250, 2)],
    ];
    const packet = stun(
      BINDING_REQUEST,
      id,
      before ? [...unknown, username] : [username, ...unknown],
    );
    expect(packet.length).toBeGreaterThan(1000);
    expect(send(packet)).toBe(5);
    receive(success(id));
    expect(flowCount()).toEqual([0, 1]);
  });

  test('datagrams of 0 to 11 bytes go by their first byte and their flow, or nowhere', () => {
    const { send, prove } = openRouter();
    for (let length = 0; length < 12; length++) {
      expect(send(Buffer.alloc(length, 0x00))).toMatch(/malformed-stun|not-media/);
      expect(send(Buffer.alloc(length, 0xff))).toBe('not-media');
      expect(send(Buffer.alloc(length, 0x80))).toBe(length === 0 ? 'not-media' : 'no-flow');
    }
    prove(goodUfrag(5));
    for (let length = 1; length < 12; length++) {
      expect(send(Buffer.alloc(length, 0x00))).toBe('malformed-stun');
      expect(send(Buffer.alloc(length, 0x80))).toBe(5);
      expect(send(Buffer.alloc(length, 0x16))).toBe(5);
    }
  });

  test('answers of any length up to a whole header teach nothing', () => {
    const { send, receive, flowCount } = openRouter();
    send(check(goodUfrag(5), id));
    for (let length = 1; length < 20; length++) receive(success(id).subarray(0, length));
    expect(flowCount()).toEqual([1, 0]);
    receive(success(id));
    expect(flowCount()).toEqual([0, 1]);
  });
});

describe('one address and several sessions', () => {
  test('two sessions on one address: checks go by their tokens, the rest to the one that was first', () => {
    const { send, receive, prove, clock } = openRouter();
    const [first, second] = [goodUfrag(5), goodUfrag(6)];
    prove(first);
    for (let i = 0; i < 40; i++) {
      clock.now += 2_500;
      expect(send(check(first))).toBe(5);
      const id = transactionId();
      expect(send(check(second, id))).toBe(6);
      receive(success(id));
      expect(send(RTP)).toBe(5);
    }
  });

  test('once one of two sessions is over, the other one has the address', () => {
    const { send, prove, clock } = openRouter();
    prove(goodUfrag(5));
    for (let waited = 0; waited < FLOW_LIMITS.tokenQuiet; waited += 2_500) {
      expect(send(RTP)).toBe(5);
      clock.now += 2_500;
      prove(goodUfrag(6));
    }
    expect(send(RTP)).toBe(6);
    expect(send(DTLS)).toBe(6);
  });
});

describe('a NAT', () => {
  test('whose port changes several times a second keeps the call going', () => {
    const { send, prove, clock, flows } = openRouter();
    const ufrag = goodUfrag(5);
    for (let port = 1; port <= 4 * 180; port++) {
      clock.now += 250;
      flows.expire(clock.now);
      prove(ufrag, port);
      expect(send(RTP, port)).toBe(5);
    }
    expect(flows.proven).toBeLessThanOrEqual(FLOW_LIMITS.maxPerToken);
    expect(flows.tentative).toBe(0);
  });

  test('that gives one client’s port to another: the new one’s checks pass at once', () => {
    const { send, prove, clock } = openRouter();
    prove(goodUfrag(5));
    clock.now += 1_000;
    expect(send(check(goodUfrag(6)))).toBe(6);
  });
});

describe('tokens', () => {
  test('one token sent from very many ports has its share of flows and no more', () => {
    const { send, prove, flowCount } = openRouter({ maxTentativePerSource: 1000 });
    const ufrag = goodUfrag(5);
    prove(ufrag, 1);
    const results = new Set<number | string>();
    for (let port = 2; port < 500; port++) results.add(send(check(ufrag), port));
    expect(results).toEqual(new Set([5, 'token-limit']));
    expect(flowCount()).toEqual([FLOW_LIMITS.maxPerToken - 1, 1]);
    expect(send(check(ufrag), 1)).toBe(5);
  });

  test('a flow ends with its token, for checks and for all else', () => {
    const { send, prove, clock } = openRouter({ idle: 3 * HOUR });
    const ufrag = goodUfrag(5);
    prove(ufrag);
    clock.now += HOUR - 1;
    expect([send(RTP), send(check(ufrag))]).toEqual([5, 5]);
    clock.now += 1;
    expect([send(RTP), send(check(ufrag))]).toEqual(['expired', 'expired']);
  });
});
