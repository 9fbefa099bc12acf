import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { RtpHeader, SrtcpSession, SrtpSession } from 'werift';
import type { SrtpKeys } from './dtls.ts';
import { MAX_PACKET_LENGTH } from './evp.ts';
import { liveNativeObjects } from './native-objects.ts';
import { MAX_EXTENSION_LENGTH, type RtpFields } from './rtp-header.ts';
import { MAX_SOURCES, Srtp } from './srtp.ts';

const open: Srtp[] = [];
afterEach(() => {
  for (const it of open.splice(0)) it.close();
  if (liveNativeObjects()['srtp-context'] > 0) throw new Error('native objects are left over');
});

function opened(keys: SrtpKeys): Srtp {
  const srtp = new Srtp(keys);
  open.push(srtp);
  return srtp;
}

/** Two ends that know each other's keys, and werift's as the second one too: an oracle. */
function ends(profile: 1 | 7) {
  const saltLength = profile === 7 ? 12 : 14;
  const keys: SrtpKeys = {
    profile,
    localKey: randomBytes(16),
    localSalt: randomBytes(saltLength),
    remoteKey: randomBytes(16),
    remoteSalt: randomBytes(saltLength),
  };
  const { localKey, localSalt, remoteKey, remoteSalt } = keys;
  const mirrored = {
    localKey: remoteKey,
    localSalt: remoteSalt,
    remoteKey: localKey,
    remoteSalt: localSalt,
  };
  const oracleKeys = {
    localMasterKey: remoteKey,
    localMasterSalt: remoteSalt,
    remoteMasterKey: localKey,
    remoteMasterSalt: localSalt,
  };
  return {
    a: opened(keys),
    b: opened({ profile, ...mirrored }),
    oracle: {
      rtp: new SrtpSession({ profile, keys: oracleKeys }),
      rtcp: new SrtcpSession({ profile, keys: oracleKeys }),
    },
  };
}

const X = Buffer.from('x');
const fields = (sequenceNumber: number, more: Partial<RtpFields> = {}): RtpFields => ({
  payloadType: 111,
  sequenceNumber,
  timestamp: 7,
  ssrc: 1,
  marker: false,
  ...more,
});

/** A receiver report without blocks, in clear. */
const rtcp = (ssrc: number, rest = Buffer.alloc(0)) => {
  const packet = Buffer.from([0x80, 201, 0, 1 + rest.length / 4, 0, 0, 0, 0]);
  packet.writeUInt32BE(ssrc, 4);
  return Buffer.concat([packet, rest]);
};

function bent(packet: Buffer, at: number, xor: number): Buffer {
  const copy = Buffer.from(packet);
  copy[at % copy.length]! ^= xor;
  return copy;
}

describe.each([1, 7] as const)('profile %i', (profile) => {
  test('what one protects the other reads', () => {
    const { a, b } = ends(profile);
    const packet = a.protectRtp(fields(9, { marker: true }), Buffer.from('hello'))!;
    expect(packet.includes('hello')).toBe(false);
    const received = b.unprotect(packet)!;
    expect(received).toMatchObject({ ...fields(9, { marker: true }), newest: true });
    expect(Buffer.from(received.payload).toString()).toBe('hello');
  });

  test('it reads what werift protects and werift what it does, whatever the packet', () => {
    const { a, oracle } = ends(profile);
    let sequenceNumber = 100;
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 1_400 }),
        fc.nat(127),
        fc.boolean(),
        fc.nat(0xffff_ffff),
        fc.array(fc.nat(0xffff_ffff), { maxLength: 3 }),
        fc.uint8Array({ minLength: 1, maxLength: 16 }),
        fc.boolean(),
        (payload, payloadType, marker, timestamp, csrc, value, extension) => {
          sequenceNumber = (sequenceNumber + 1) & 0xffff;
          const sent = { payloadType, marker, timestamp, sequenceNumber, ssrc: 5 };
          const extensions = extension ? [{ id: 1, payload: Buffer.from(value) }] : [];
          const header = new RtpHeader({
            ...sent,
            csrcLength: csrc.length,
            csrc,
            extension,
            extensions,
          });
          const received = a.unprotect(oracle.rtp.encrypt(Buffer.from(payload), header))!;
          expect(received).toMatchObject(sent);
          expect(Buffer.from(received.payload)).toEqual(Buffer.from(payload));

          const theirs = oracle.rtp.decrypt(a.protectRtp(sent, payload)!);
          expect(theirs.subarray(12)).toEqual(Buffer.from(payload));
          expect(RtpHeader.deSerialize(theirs)).toMatchObject(sent);

          const report = rtcp(5, Buffer.alloc(4 * (payload.length >> 2), payload));
          expect(a.unprotectRtcp(oracle.rtcp.encrypt(report))).toEqual(report);
          expect(oracle.rtcp.decrypt(a.protectRtcp(report)!)).toEqual(report);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('header extensions and padding are no payload', () => {
    const { a, oracle } = ends(profile);
    const extensions = [{ id: 1, payload: Buffer.from([1, 2]) }];
    const header = { ...fields(9), extension: true, extensions, padding: true };
    const padded = (text: string) =>
      oracle.rtp.encrypt(
        Buffer.from(text, 'latin1'),
        new RtpHeader({ ...header, sequenceNumber: ++header.sequenceNumber }),
      );
    expect(Buffer.from(a.unprotect(padded('hello\0\0\u0003'))!.payload).toString()).toBe('hello');
    expect(a.unprotect(padded('\0\0\u0003'))!.payload).toHaveLength(0);
    expect(a.unprotect(padded('lies\u00ff'))!.payload).toHaveLength(0);
  });

  test('a packet comes through once', () => {
    const { a, b } = ends(profile);
    const packets = [3, 4, 5].map((it) => a.protectRtp(fields(it), X)!);
    const receive = (at: number) => b.unprotect(Buffer.from(packets[at]!));
    expect(receive(2)).toMatchObject({ newest: true });
    expect(receive(0)).toMatchObject({ newest: false });
    for (const again of [0, 2]) expect(receive(again)).toBeUndefined();
    expect(receive(1)).toMatchObject({ newest: false });
    const reports = [1, 2, 3].map(() => a.protectRtcp(rtcp(1))!);
    const report = (at: number) => b.unprotectRtcp(Buffer.from(reports[at]!));
    for (const at of [2, 0]) expect(report(at)).toEqual(rtcp(1));
    for (const again of [0, 2]) expect(report(again)).toBeUndefined();
    expect(report(1)).toEqual(rtcp(1));
  });

  test('rollovers of sequence numbers are survived, with loss and disorder around them', () => {
    const { a, b } = ends(profile);
    const sent = Array.from({ length: 3 * 65_536 }, (_, i) => (65_000 + i) % 65_536);
    let held: Buffer | undefined;
    // Behind the rollover a held one is part of the round before.
    const late: unknown[] = [];
    for (const [i, sequenceNumber] of sent.entries()) {
      const packet = a.protectRtp(fields(sequenceNumber), X)!;
      const isNearRollover = sequenceNumber > 65_500 || sequenceNumber < 30;
      if (!isNearRollover && i % 5_000 !== 0) continue;
      if (i % 7 === 3) continue;
      if (i % 7 === 5 && isNearRollover) {
        held = packet;
        continue;
      }
      expect(b.unprotect(packet)).toBeDefined();
      if (held && isNearRollover) late.push(b.unprotect(held)?.newest);
      held = undefined;
    }
    expect(late.length).toBeGreaterThan(20);
    expect(late.every((newest) => newest === false)).toBe(true);
  });

  test('no index is used twice', () => {
    const { a } = ends(profile);
    a.protectRtp(fields(5), X);
    for (const old of [5, 4, 5 + 0x8000]) {
      expect(() => a.protectRtp(fields(old), X)).toThrow('must be newer');
    }
    expect(a.protectRtp(fields(5, { ssrc: 2 }), X)).toBeDefined();
    expect(a.protectRtp(fields(6), X)).toBeDefined();
  });

  test('sources are bounded, and forged ones take no place', () => {
    const { a, b } = ends(profile);
    for (let ssrc = 100; ssrc < 200; ssrc++) {
      const forged = a.protectRtp(fields(1, { ssrc }), X)!;
      forged[forged.length - 1]! ^= 1;
      expect(b.unprotect(forged)).toBeUndefined();
    }
    const from = (ssrc: number) => b.unprotect(a.protectRtp(fields(1, { ssrc }), X)!);
    for (let ssrc = 1; ssrc <= MAX_SOURCES; ssrc++) expect(from(ssrc)).toBeDefined();
    expect(from(MAX_SOURCES + 1)).toBeUndefined();
    const report = (ssrc: number) => b.unprotectRtcp(a.protectRtcp(rtcp(ssrc))!);
    for (let ssrc = 1; ssrc <= MAX_SOURCES; ssrc++) expect(report(ssrc)).toBeDefined();
    expect(report(MAX_SOURCES + 1)).toBeUndefined();
  });

  test('a forged packet far ahead moves nothing', () => {
    const { a, b } = ends(profile);
    const first = a.protectRtp(fields(1), X)!;
    const report = a.protectRtcp(rtcp(1))!;
    const ahead = Buffer.from(first);
    ahead.writeUInt16BE(30_000, 2);
    const later = Buffer.from(report);
    const indexAt = later.length - (profile === 7 ? 4 : 14);
    later.writeUInt32BE(0x8000_ffff, indexAt);
    for (let i = 0; i < 5; i++) {
      expect(b.unprotect(Buffer.from(ahead))).toBeUndefined();
      expect(b.unprotectRtcp(Buffer.from(later))).toBeUndefined();
    }
    expect(b.unprotect(first)).toMatchObject({ newest: true });
    expect(b.unprotectRtcp(report)).toEqual(rtcp(1));
  });

  test('a refused packet stays as it was', () => {
    const { a, b } = ends(profile);
    const packet = a.protectRtp(fields(1), Buffer.from('hello'))!;
    const forged = Buffer.from(packet);
    forged[20]! ^= 1;
    const before = Buffer.from(forged);
    b.unprotect(forged);
    expect(forged).toEqual(before);
  });

  test('RTCP in clear is refused', () => {
    const { a, b } = ends(profile);
    const report = a.protectRtcp(rtcp(1))!;
    report[report.length - (profile === 7 ? 4 : 14)]! &= 0x7f;
    expect(b.unprotectRtcp(report)).toBeUndefined();
    expect(b.unprotectRtcp(rtcp(1, Buffer.alloc(60)))).toBeUndefined();
  });

  test.each([
    ['more CSRCs than it holds', (packet: Buffer) => void (packet[0] = 0x8f), 60],
    ['an extension behind its end', (packet: Buffer) => void (packet[0] = 0x9c), 60],
    ['an extension longer than it', (packet: Buffer) => packet.writeUInt16BE(0x0800, 14), 60],
    [
      'an extension longer than any honest one',
      (packet: Buffer) => packet.writeUInt16BE(MAX_EXTENSION_LENGTH / 4 + 1, 14),
      1_000,
    ],
    ['another version', (packet: Buffer) => void (packet[0] = 0x50), 60],
    ['more bytes than any path carries', () => undefined, MAX_PACKET_LENGTH + 1],
    ['nothing behind its header', () => undefined, 24],
  ])('a packet with %s is refused', (_, bend, length) => {
    const { b } = ends(profile);
    const packet = Buffer.alloc(length, 1);
    packet[0] = 0x90;
    packet[1] = 111;
    packet.writeUInt16BE(0xbede, 12);
    packet.writeUInt16BE(1, 14);
    bend(packet);
    expect(b.unprotect(packet)).toBeUndefined();
  });

  test('anything else is refused without harm', () => {
    const { a, b } = ends(profile);
    const good = a.protectRtp(fields(1), X)!;
    const report = a.protectRtcp(rtcp(1))!;
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 255 }),
        (bytes, at, xor) => {
          expect(b.unprotect(Buffer.from(bytes))).toBeUndefined();
          expect(b.unprotectRtcp(Buffer.from(bytes))).toBeUndefined();
          expect(b.unprotect(bent(good, at, xor))).toBeUndefined();
          expect(b.unprotectRtcp(bent(report, at, xor))).toBeUndefined();
        },
      ),
      { numRuns: 1_000 },
    );
    expect(b.unprotect(good)).toBeDefined();
    expect(b.unprotectRtcp(report)).toEqual(rtcp(1));
  });

  test('after close() nothing is protected or opened', () => {
    const { a, b } = ends(profile);
    const [packet, report] = [a.protectRtp(fields(1), X)!, a.protectRtcp(rtcp(1))!];
    for (const it of [a, b, a]) it.close();
    expect(a.protectRtp(fields(2), X)).toBeUndefined();
    expect(a.protectRtcp(rtcp(1))).toBeUndefined();
    expect(b.unprotect(packet)).toBeUndefined();
    expect(b.unprotectRtcp(report)).toBeUndefined();
  });

  test('what is too large to send is refused', () => {
    const { a } = ends(profile);
    const large = Buffer.alloc(MAX_PACKET_LENGTH + 1);
    expect(() => a.protectRtp(fields(1), large)).toThrow('too large');
    expect(() => a.protectRtcp(large)).toThrow('too large');
  });
});
