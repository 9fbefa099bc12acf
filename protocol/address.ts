/** IP addresses as 16 bytes: IPv6, or IPv4 mapped into it (RFC 4291 §2.5.5.2). */
import ipaddr from 'ipaddr.js';

export const ADDRESS_LENGTH = 16;

/** @throws Error when `text` is not an IPv4 or IPv6 address. */
export function parseAddress(text: string): Uint8Array {
  const address = ipaddr.parse(text);
  const v6 = address.kind() === 'ipv4' ? (address as ipaddr.IPv4).toIPv4MappedAddress() : address;
  return Uint8Array.from(v6.toByteArray());
}

/** The shortest text; a mapped IPv4 address in dotted form. */
export function formatAddress(bytes: Uint8Array, at = 0): string {
  return isMappedIPv4(bytes, at)
    ? `${bytes[at + 12]}.${bytes[at + 13]}.${bytes[at + 14]}.${bytes[at + 15]}`
    : ipaddr.fromByteArray([...bytes.subarray(at, at + ADDRESS_LENGTH)]).toString();
}

export function isMappedIPv4(bytes: Uint8Array, at = 0): boolean {
  for (let i = 0; i < 10; i++) if (bytes[at + i] !== 0) return false;
  return bytes[at + 10] === 0xff && bytes[at + 11] === 0xff;
}
