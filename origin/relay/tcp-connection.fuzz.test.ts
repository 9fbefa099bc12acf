import { Socket } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import type { CloseReason } from './counters.ts';
import { MAX_CLIENT_PACKET } from './packet-batch.ts';
import { frame } from './rfc4571.ts';
import { TcpConnection } from './tcp-connection.ts';
import { TCP_LIMITS } from './tcp-limits.ts';
import { GOOG_PING, RTP, check, stun, success, transactionId } from './testing/packets.ts';
import { ufragFor } from './testing/rig.ts';

interface Outcome {
  readonly packets: Buffer[];
  readonly reason: CloseReason | undefined;
}

/** What a connection makes of its stream, which ends where the connection must. */
function receiveAll(chunks: readonly Uint8Array[]): Outcome {
  const client = parseAddress('192.0.2.1');
  const connection = new TcpConnection(new Socket(), 0, client, 1000, TCP_LIMITS);
  const packets: Buffer[] = [];
  for (const chunk of chunks) {
    const reason = connection.receive(chunk, (packet) => packets.push(Buffer.from(packet)));
    if (reason) return { packets, reason };
  }
  return { packets, reason: undefined };
}

function framed(packet: Uint8Array): Uint8Array {
  return frame(packet, 0, packet.length);
}

const good = check(ufragFor(1, 5), transactionId());
const first = fc.constantFrom<Uint8Array>(good, good, check('abcd'));
const packet = fc.oneof(
  fc.constantFrom(good, RTP, success(transactionId()), stun(GOOG_PING, transactionId(), [])),
  fc.uint8Array({ maxLength: 40 }),
  fc.nat(MAX_CLIENT_PACKET + 40).map((length) => new Uint8Array(length)),
);
const begun = fc
  .tuple(first, fc.array(packet, { maxLength: 6 }))
  .map(([one, rest]) => [one].concat(rest));
const stream = fc
  .tuple(
    fc.oneof(begun, fc.array(packet, { maxLength: 6 })),
    fc.uint8Array({ maxLength: 8 }),
    fc.nat(12),
  )
  .map(([packets, tail, missing]) => {
    const bytes = Buffer.concat([...packets.map(framed), tail]);
    return bytes.subarray(0, Math.max(0, bytes.length - missing));
  });
/** Lengths of pieces; a long stream has whole runs of single bytes too. */
const pieces = fc.array(fc.oneof(fc.constant(1), fc.nat(600)), { maxLength: 60 });

function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...chunks, bytes.subarray(at)];
}

test('however a stream is cut, the same packets come of it, and the same end', () => {
  const reasons = new Set<CloseReason | undefined>();
  fc.assert(
    fc.property(stream, pieces, (bytes, lengths) => {
      const whole = receiveAll([bytes]);
      expect(receiveAll(cut(bytes, lengths))).toEqual(whole);
      reasons.add(whole.reason);
      for (const one of whole.packets) {
        expect(one.length).toBeGreaterThan(0);
        expect(one.length).toBeLessThanOrEqual(MAX_CLIENT_PACKET);
        expect(bytes.includes(one)).toBe(true);
      }
    }),
    { numRuns: 3000 },
  );
  expect(reasons).toEqual(new Set(['not-a-check', 'oversized-frame', undefined]));
});

test('whatever comes first, nothing goes on before a check', () => {
  const types = new Set<string>();
  fc.assert(
    fc.property(stream, pieces, (bytes, lengths) => {
      const [one] = receiveAll(cut(bytes, lengths)).packets;
      if (one) types.add(one.toString('hex', 0, 2));
    }),
    { numRuns: 1000 },
  );
  expect([...types]).toEqual(['0001']);
});
