/** A connectivity check as a client sends it (RFC 8445 §7.1), built apart from what is tested. */
import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { STUN_HEADER_LENGTH, STUN_MAGIC_COOKIE } from '../../protocol/stun.ts';

const BINDING_REQUEST = 0x0001;
const USERNAME = 0x0006;
const MESSAGE_INTEGRITY = 0x0008;
const PRIORITY = 0x0024;
const USE_CANDIDATE = 0x0025;
const FINGERPRINT = 0x8028;
const ICE_CONTROLLING = 0x802a;

const FINGERPRINT_XOR = 0x5354554e;
const HMAC_LENGTH = 20;

/** A peer-reflexive candidate's usual priority; no one here weighs it. */
const ANY_PRIORITY = 0x6e7f1eff;

/** @param password The peer's ice-pwd, the key of MESSAGE-INTEGRITY. */
export function stunCheck(serverUfrag: string, clientUfrag: string, password: string): Buffer {
  const priority = Buffer.alloc(4);
  priority.writeUInt32BE(ANY_PRIORITY);
  const attributes = Buffer.concat([
    attribute(USERNAME, Buffer.from(`${serverUfrag}:${clientUfrag}`)),
    attribute(ICE_CONTROLLING, randomBytes(8)),
    attribute(USE_CANDIDATE, Buffer.alloc(0)),
    attribute(PRIORITY, priority),
  ]);
  const header = Buffer.alloc(STUN_HEADER_LENGTH, randomBytes(STUN_HEADER_LENGTH));
  header.writeUInt16BE(BINDING_REQUEST, 0);
  header.writeUInt32BE(STUN_MAGIC_COOKIE, 4);
  const open = Buffer.concat([header, attributes]);
  const sealed = append(open, MESSAGE_INTEGRITY, HMAC_LENGTH, (covered) =>
    createHmac('sha1', password).update(covered).digest(),
  );
  return append(sealed, FINGERPRINT, 4, (covered) => {
    const value = Buffer.alloc(4);
    value.writeUInt32BE((crc32(covered) ^ FINGERPRINT_XOR) >>> 0);
    return value;
  });
}

/** An attribute over all before it; the length in the header counts it already (RFC 8489 §14.5). */
function append(
  message: Buffer,
  type: number,
  length: number,
  seal: (covered: Buffer) => Buffer,
): Buffer {
  message.writeUInt16BE(message.length - STUN_HEADER_LENGTH + 4 + length, 2);
  return Buffer.concat([message, attribute(type, seal(message))]);
}

function attribute(type: number, value: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(value.length, 2);
  return Buffer.concat([header, value, Buffer.alloc(-value.length & 3)]);
}
