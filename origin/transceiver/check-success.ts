/**
 * The answer to a check (RFC 8445 §7.3.1, RFC 8489 §6.3.1.1), written straight into its bytes: every
 * client asks for one every few seconds, and werift's writer makes a message anew for each attribute.
 */
import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isMappedIPv4, parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { STUN_HEADER_LENGTH, STUN_MAGIC_COOKIE } from '../../protocol/stun.ts';

const BINDING_SUCCESS = 0x0101;
const XOR_MAPPED_ADDRESS = 0x0020;
const MESSAGE_INTEGRITY = 0x0008;
const FINGERPRINT = 0x8028;
const FINGERPRINT_XOR = 0x5354554e;

/** Bytes of attributes, each with its header of 4. */
const INTEGRITY_LENGTH = 24;
const FINGERPRINT_LENGTH = 8;

/** RFC 8489 §14.2: the family in front of port and address. */
const FAMILY_IPV4 = 1;
const FAMILY_IPV6 = 2;
const MAPPED_PREFIX_LENGTH = 12;

/**
 * @param transactionId Of the check, 12 bytes.
 * @param key Of MESSAGE-INTEGRITY.
 * @param client Where the check came from.
 */
export function checkSuccess(transactionId: Uint8Array, key: Buffer, client: TrunkAddress): Buffer {
  const mapped = parseAddress(client.address);
  const isIPv4 = isMappedIPv4(mapped);
  const address = isIPv4 ? mapped.subarray(MAPPED_PREFIX_LENGTH) : mapped;
  const integrityAt = STUN_HEADER_LENGTH + 8 + address.length;
  const fingerprintAt = integrityAt + INTEGRITY_LENGTH;
  const out = Buffer.alloc(fingerprintAt + FINGERPRINT_LENGTH);

  out.writeUInt16BE(BINDING_SUCCESS, 0);
  out.writeUInt32BE(STUN_MAGIC_COOKIE, 4);
  out.set(transactionId, 8);

  let at = writeAttributeHeader(out, STUN_HEADER_LENGTH, XOR_MAPPED_ADDRESS, 4 + address.length);
  out[at + 1] = isIPv4 ? FAMILY_IPV4 : FAMILY_IPV6;
  out.writeUInt16BE(client.port ^ (STUN_MAGIC_COOKIE >>> 16), at + 2);
  // The magic cookie and the transaction id are what the address is XORed with, in the header's order.
  for (let i = 0; i < address.length; i++) out[at + 4 + i] = address[i]! ^ out[4 + i]!;

  // Each of the two covers a length that counts itself and nothing behind (RFC 8489 §14.5, §14.7).
  setLength(out, fingerprintAt);
  at = writeAttributeHeader(out, integrityAt, MESSAGE_INTEGRITY, INTEGRITY_LENGTH - 4);
  out.set(createHmac('sha1', key).update(out.subarray(0, integrityAt)).digest(), at);

  setLength(out, out.length);
  at = writeAttributeHeader(out, fingerprintAt, FINGERPRINT, FINGERPRINT_LENGTH - 4);
  out.writeUInt32BE((crc32(out.subarray(0, fingerprintAt)) ^ FINGERPRINT_XOR) >>> 0, at);
  return out;
}

function setLength(message: Buffer, end: number): void {
  message.writeUInt16BE(end - STUN_HEADER_LENGTH, 2);
}

/** Where the value goes. */
function writeAttributeHeader(message: Buffer, at: number, type: number, length: number): number {
  message.writeUInt16BE(type, at);
  message.writeUInt16BE(length, at + 2);
  return at + 4;
}
