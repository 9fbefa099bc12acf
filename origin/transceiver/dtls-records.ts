/**
 * A filter before OpenSSL: which records of a datagram a session wants (RFC 6347 §4.1). Whoever can
 * spoof a client's address can send plaintext records; none of them may end a session.
 */

const HEADER_LENGTH = 13;
const CHANGE_CIPHER_SPEC = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
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
    if (isWanted(datagram, at, established)) wanted.push(datagram.subarray(at, end));
    at = end;
  }
  const whole = wanted.reduce((sum, record) => sum + record.length, 0) === datagram.length;
  return whole ? [datagram] : wanted;
}

function isWanted(datagram: Buffer, at: number, established: boolean): boolean {
  const type = datagram[at]!;
  if (!VERSIONS.has(datagram.readUInt16BE(at + 1))) return false;
  if (datagram.readUInt16BE(at + 3) > 0)
    return type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA;
  // A plaintext alert is anyone's word; a peer that really gives up runs into the setup deadline.
  if (type === ALERT) return false;
  return !established && (type === HANDSHAKE || type === CHANGE_CIPHER_SPEC);
}
