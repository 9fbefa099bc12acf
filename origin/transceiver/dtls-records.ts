/**
 * A filter before OpenSSL: which records of a datagram a session wants (RFC 6347 §4.1). Whoever can
 * spoof a client's address can send plaintext records; none of them may end a session.
 */

const HEADER_LENGTH = 13;
const CHANGE_CIPHER_SPEC = 20;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;

/** OpenSSL's replay window: a record from beyond it would shut out those that a handshake really has. */
const PLAINTEXT_SEQUENCES = 64;

/** Of a handshake message (RFC 6347 §4.2.2). */
const MESSAGE_HEADER_LENGTH = 12;
const MAX_MESSAGE_LENGTH = 16_384;

/** Messages in plaintext: hellos, certificates, key exchanges, requests and CertificateVerify. */
const PLAINTEXT_MESSAGES: ReadonlySet<number> = new Set([1, 2, 3, 11, 12, 13, 14, 15, 16]);
/** DTLS 1.0, which first flights may carry, and DTLS 1.2. */
const VERSIONS: ReadonlySet<number> = new Set([0xfeff, 0xfefd]);

/**
 * Total. The records worth passing on, each a view into `datagram`; one view when all of them are.
 *
 * @param established True after the handshake, when no plaintext record is wanted any more.
 */
export function wantedRecords(datagram: Buffer, established: boolean): Buffer[] {
  const wanted: Buffer[] = [];
  let at = 0;
  while (at + HEADER_LENGTH <= datagram.length) {
    const end = at + HEADER_LENGTH + datagram.readUInt16BE(at + 11);
    if (end > datagram.length) break;
    if (isWanted(datagram, at, end, established)) wanted.push(datagram.subarray(at, end));
    at = end;
  }
  const whole = wanted.reduce((sum, record) => sum + record.length, 0) === datagram.length;
  return whole ? [datagram] : wanted;
}

function isWanted(datagram: Buffer, at: number, end: number, established: boolean): boolean {
  const type = datagram[at]!;
  if (!VERSIONS.has(datagram.readUInt16BE(at + 1))) return false;
  if (datagram.readUInt16BE(at + 3) > 0)
    return type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA;
  if (established || datagram.readUIntBE(at + 5, 6) >= PLAINTEXT_SEQUENCES) return false;
  const body = at + HEADER_LENGTH;
  if (type === CHANGE_CIPHER_SPEC) return end - body === 1 && datagram[body] === 1;
  // A plaintext alert is anyone's word: a peer that really gives up runs into the setup deadline.
  return type === HANDSHAKE && holdsWholeFragments(datagram, body, end);
}

/** One or more handshake fragments that fit their messages, and nothing else. */
function holdsWholeFragments(datagram: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at + MESSAGE_HEADER_LENGTH <= end) {
    const length = datagram.readUIntBE(at + 1, 3);
    const offset = datagram.readUIntBE(at + 6, 3);
    const size = datagram.readUIntBE(at + 9, 3);
    if (!PLAINTEXT_MESSAGES.has(datagram[at]!)) return false;
    if (length > MAX_MESSAGE_LENGTH || offset + size > length) return false;
    at += MESSAGE_HEADER_LENGTH + size;
  }
  return at === end && at > start;
}
