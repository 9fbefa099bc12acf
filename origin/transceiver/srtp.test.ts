import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { RtpHeader } from 'werift';
import type { SrtpKeys } from './dtls.ts';
import { MAX_EXTENSION_LENGTH, MAX_SOURCES, Srtp } from './srtp.ts';

function pair(profile: 1 | 7): [Srtp, Srtp] {
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
  return [new Srtp(keys), new Srtp({ profile, ...mirrored })];
}

const header = (sequenceNumber: number, more: Partial<RtpHeader> = {}) =>
  new RtpHeader({ payloadType: 111, sequenceNumber, timestamp: 7, ssrc: 1, ...more });

describe.each([1, 7] as const)('profile %i', (profile) => {
  test('what one protects the other reads', () => {
    const [a, b] = pair(profile);
    const packet = a.protectRtp(header(9, { marker: true }), Buffer.from('hello'));
    expect(packet.includes('hello')).toBe(false);
    const received = b.unprotect(packet)!;
    expect(received).toMatchObject({ payloadType: 111, timestamp: 7, marker: true, newest: true });
    expect(Buffer.from(received.payload).toString()).toBe('hello');
  });

  test('header extensions and padding are no payload', () => {
    const [a, b] = pair(profile);
    const extensions = [{ id: 1, payload: Buffer.from([1, 2]) }];
    const padded = Buffer.from('hello\0\0\u0003', 'latin1');
    const packet = a.protectRtp(header(9, { extension: true, extensions, padding: true }), padded);
    expect(Buffer.from(b.unprotect(packet)!.payload).toString()).toBe('hello');
  });

  test('a packet comes through once', () => {
    const [a, b] = pair(profile);
    const packets = [3, 4, 5].map((it) => a.protectRtp(header(it), Buffer.from('x')));
    expect(b.unprotect(packets[2]!)).toMatchObject({ newest: true });
    expect(b.unprotect(packets[0]!)).toMatchObject({ newest: false });
    for (const again of [0, 2]) expect(b.unprotect(packets[again]!)).toBeUndefined();
    expect(b.unprotect(packets[1]!)).toMatchObject({ newest: false });
  });

  test('a loss around the rollover of sequence numbers is survived', () => {
    const [a, b] = pair(profile);
    expect(b.unprotect(a.protectRtp(header(65_000), Buffer.from('x')))).toBeDefined();
    // The sender's own count follows only if it sends them all.
    for (let i = 65_001; i < 66_000; i++) a.protectRtp(header(i % 65_536), Buffer.from('x'));
    expect(b.unprotect(a.protectRtp(header(66_000 % 65_536), Buffer.from('x')))).toBeDefined();
  });

  test('sources are bounded', () => {
    const [a, b] = pair(profile);
    const from = (ssrc: number) => b.unprotect(a.protectRtp(header(1, { ssrc }), Buffer.from('x')));
    for (let ssrc = 1; ssrc <= MAX_SOURCES; ssrc++) expect(from(ssrc)).toBeDefined();
    expect(from(MAX_SOURCES + 1)).toBeUndefined();
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
  ])('a packet with %s is refused before it is parsed', (_, bend, length) => {
    const [, b] = pair(profile);
    const packet = Buffer.alloc(length, 1);
    packet[0] = 0x90;
    packet[1] = 111;
    packet.writeUInt16BE(0xbede, 12);
    packet.writeUInt16BE(1, 14);
    const parse = vi.spyOn(RtpHeader, 'deSerialize');
    try {
      expect(b.unprotect(packet)).toBeUndefined();
      expect(parse).toHaveBeenCalledTimes(1);
      bend(packet);
      expect(b.unprotect(packet)).toBeUndefined();
      expect(parse).toHaveBeenCalledTimes(1);
    } finally {
      parse.mockRestore();
    }
  });

  test('anything else is refused without harm', () => {
    const [a, b] = pair(profile);
    const good = a.protectRtp(header(1), Buffer.from('x'));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.nat(good.length - 1),
        fc.integer({ min: 1, max: 255 }),
        (bytes, at, xor) => {
          const bent = Buffer.from(good);
          bent[at]! ^= xor;
          expect(b.unprotect(Buffer.from(bytes))).toBeUndefined();
          expect(b.unprotect(bent)).toBeUndefined();
        },
      ),
      { numRuns: 1_000 },
    );
    expect(b.unprotect(good)).toBeDefined();
  });
});
