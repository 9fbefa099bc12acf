/** IP addresses as 16 bytes: IPv6, or IPv4 mapped into it (RFC 4291 §2.5.5.2). */
import ipaddr from 'ipaddr.js';

export const ADDRESS_LENGTH = 16;

/**
 * @param text IPv6, or IPv4 in its four decimal parts; a zone (`%eth0`) is left out.
 * @throws Error when `text` is neither.
 */
export function parseAddress(text: string): Uint8Array {
  // A zone means nothing off this machine, and an interface's name may be one the library refuses.
  const bare = text.includes(':') ? text.split('%', 1)[0]! : text;
  // The library alone would read `1` and `010.0.0.1` too, as the C library once did.
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) {
    throw new Error(`${JSON.stringify(text)} is not an IPv4 or IPv6 address`);
  }
  const address = ipaddr.parse(bare);
  const v6 = address instanceof ipaddr.IPv4 ? address.toIPv4MappedAddress() : address;
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
