import { describe, expect, it } from 'vitest';
import { TRUNK_HEADER_LENGTH } from '../../../protocol/trunk.ts';
import { Counters, sumCounters } from '../counters.ts';
import { FLOW_LIMITS, flowMemory } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { client, header } from '../testing/flows.ts';
import { ABSENCE } from './absent-flows.ts';
import {
  ASK_RATE,
  HOLD_TIME,
  HeldPackets,
  MAX_HELD,
  MAX_HELD_BYTES,
  MAX_HELD_OF_FLOW,
  MAX_WAITS,
} from './held-packets.ts';

/** Held packets, and the headers that were asked for. */
function openHeld() {
  const memory = flowMemory({ ...FLOW_LIMITS, maxFlows: 100 });
  const counters = new Counters();
  const asked: Buffer[] = [];
  const held = new HeldPackets(
    (headers) => {
      expect(headers.length % TRUNK_HEADER_LENGTH).toBe(0);
      for (let at = 0; at < headers.length; at += TRUNK_HEADER_LENGTH) {
        asked.push(Buffer.from(headers.subarray(at, at + TRUNK_HEADER_LENGTH)));
      }
    },
    memory,
    counters,
  );
  const hold = (frame: Buffer, now = 0, fromPeer = false): boolean =>
    held.hold(frame, 0, frame.length, fromPeer, now);
  const totals = () => sumCounters([counters], new FlowTable(memory));
  return { held, hold, asked, totals };
}

/** A flow of its own for each `n`. */
function flow(n: number): Buffer {
  return client(1 + (n % 60_000), `198.51.100.${Math.floor(n / 60_000)}`);
}

function large(port: number): Buffer {
  return header({ client: { address: '192.0.2.1', port }, payload: Buffer.alloc(8_900) });
}

describe('Packets without a flow', () => {
  it('are held as they were, and their flow is asked for once', () => {
    const { held, hold, asked } = openHeld();
    const frame = client(1000);
    const before = Buffer.from(frame);
    expect([hold(frame), hold(frame, 0, true)]).toEqual([true, true]);
    frame.fill(0);
    held.flush();
    expect(asked).toEqual([before.subarray(0, TRUNK_HEADER_LENGTH)]);
    const packets = held.settle(before, 0, 0);
    expect(packets.map(({ fromPeer }) => fromPeer)).toEqual([false, true]);
    for (const packet of packets) expect(Buffer.from(packet.frame)).toEqual(before);
    expect(held.count).toBe(0);
  });

  it('are not held again soon after their flow was looked for', () => {
    const { held, hold, asked, totals } = openHeld();
    hold(client(1000));
    held.settle(client(1000), 0, 5);
    expect(hold(client(1000), 4 + ABSENCE)).toBe(false);
    expect(hold(client(1001), 4 + ABSENCE)).toBe(true);
    expect(hold(client(1000), 5 + ABSENCE)).toBe(true);
    held.flush();
    expect(asked).toHaveLength(3);
    expect(totals().lookups).toEqual({ flows: 3, heldPackets: 3, releasedPackets: 0 });
  });

  it('are few for each flow', () => {
    const { held, hold } = openHeld();
    for (let i = 0; i < MAX_HELD_OF_FLOW; i++) expect(hold(client(1000))).toBe(true);
    expect(hold(client(1000))).toBe(false);
    expect(held.settle(client(1000), 0, 0)).toHaveLength(MAX_HELD_OF_FLOW);
  });

  it('are few in all, while more flows are asked for', () => {
    const { held, hold, asked } = openHeld();
    for (let n = 0; n < MAX_HELD; n++) expect(hold(flow(n))).toBe(true);
    expect(hold(flow(MAX_HELD))).toBe(false);
    held.flush();
    expect([held.count, asked.length]).toEqual([MAX_HELD, MAX_HELD + 1]);
    expect(held.settle(flow(MAX_HELD), 0, 0)).toEqual([]);
    held.settle(flow(0), 0, 0);
    expect(hold(flow(1))).toBe(true);
    expect(hold(flow(2))).toBe(false);
  });

  it('take little memory in all', () => {
    const { held, hold } = openHeld();
    let taken = 0;
    while (hold(large(1 + taken))) taken++;
    const { length } = large(1);
    expect(taken).toBe(Math.floor(MAX_HELD_BYTES / length));
    held.settle(large(1), 0, 0);
    expect(hold(large(2))).toBe(true);
  });

  it('that waited for too long are dropped, and their flow is not asked for at once', () => {
    const { held, hold, totals } = openHeld();
    hold(client(1000), 0);
    hold(client(1000), HOLD_TIME - 1);
    hold(client(1001), HOLD_TIME - 1);
    held.expire(HOLD_TIME);
    expect([held.count, totals().drops['no-flow']]).toEqual([1, 2]);
    expect(held.settle(client(1000), 0, HOLD_TIME)).toEqual([]);
    expect(hold(client(1000), HOLD_TIME)).toBe(false);
  });

  it('of very many flows are asked for at a bounded rate', () => {
    const { held, hold, asked } = openHeld();
    let n = 0;
    const flood = (now: number): number => {
      const before = asked.length;
      for (let i = 0; i < 30_000; i++, n++) {
        hold(flow(n), now);
        held.flush();
      }
      return asked.length - before;
    };
    expect(flood(0)).toBe(ASK_RATE.burst);
    held.expire(HOLD_TIME);
    expect(flood(HOLD_TIME)).toBe((HOLD_TIME / 1000) * ASK_RATE.perSecond);
  });

  it('wait for no more flows at a time than the limit', () => {
    const { held, hold, asked } = openHeld();
    const steps = [0, 1_000];
    for (const now of steps) for (let n = 0; n < 2 * MAX_WAITS; n++) hold(flow(n + now), now);
    held.flush();
    expect(asked).toHaveLength(MAX_WAITS);
  });

  it('settle without having been asked for, too', () => {
    const { held } = openHeld();
    expect(held.settle(client(1000), 0, 0)).toEqual([]);
  });
});
