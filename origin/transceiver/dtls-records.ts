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

/** Messages that come in plaintext, by who takes them (RFC 5246 §7.4). */
const PLAINTEXT_MESSAGES: Record<DtlsRole, ReadonlySet<number>> = {
  // Hello, hello verify request, certificate, key exchange, certificate request, hello done.
  client: new Set([2, 3, 11, 12, 13, 14]),
  // Hello, certificate, certificate verify, key exchange.
  server: new Set([1, 11, 15, 16]),
};
/** DTLS 1.0, which first flights may carry, and DTLS 1.2. */
const VERSIONS: ReadonlySet<number> = new Set([0xfeff, 0xfefd]);

export type DtlsRole = 'client' | 'server';

/** Why a record went no further. */
export type DtlsDrop =
  /** Not a record of DTLS 1.2, cut off, or of a kind or epoch that there is not. */
  | 'not-a-record'
  /** In plaintext when all is encrypted: a late ClientHello, a spoofed alert. */
  | 'late-plaintext'
  /** In plaintext, and nothing that our role waits for. */
  | 'unwanted-plaintext'
  /** Came before. */
  | 'replayed'
  /** Encrypted with another key, or a replay from before the handshake's end. */
  | 'not-authentic'
  /** A ClientHello that cannot be answered. */
  | 'refused-hello';

export type DtlsDrops = Record<DtlsDrop, number>;

export const noDtlsDrops = (): DtlsDrops => ({
  'not-a-record': 0,
  'late-plaintext': 0,
  'unwanted-plaintext': 0,
  replayed: 0,
  'not-authentic': 0,
  'refused-hello': 0,
});

/**
 * Total. The records worth passing on, each a view into `datagram`; one view when all of them are in
 * plaintext and wanted. Counts the others.
 *
 * @param role Ours.
 * @param established True after the handshake, when no plaintext record is wanted any more.
 */
export function wantedRecords(
  datagram: Buffer,
  role: DtlsRole,
  established: boolean,
  drops: DtlsDrops,
): Buffer[] {
  const wanted: Buffer[] = [];
  let at = 0;
  while (at + HEADER_LENGTH <= datagram.length) {
    const end = at + HEADER_LENGTH + datagram.readUInt16BE(at + 11);
    if (end > datagram.length) break;
    const drop = faultOf(datagram, at, end, role, established);
    if (drop) drops[drop]++;
    else wanted.push(datagram.subarray(at, end));
    at = end;
  }
  if (at < datagram.length) drops['not-a-record']++;
  if (established) return wanted;
  const whole = wanted.reduce((sum, record) => sum + record.length, 0) === datagram.length;
  return whole ? [datagram] : wanted;
}

/** Sequence number of an encrypted record, within its epoch. */
export const recordSequence = (record: Buffer): number => record.readUIntBE(5, 6);

/** True for a record that brings data or an alert, when it is authentic. */
export const carriesNews = (record: Buffer): boolean => record[0] !== HANDSHAKE;

function faultOf(
  datagram: Buffer,
  at: number,
  end: number,
  role: DtlsRole,
  established: boolean,
): DtlsDrop | undefined {
  const type = datagram[at]!;
  const epoch = datagram.readUInt16BE(at + 3);
  const isKnown = type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA;
  if (!VERSIONS.has(datagram.readUInt16BE(at + 1)) || !isKnown) return 'not-a-record';
  // There is no renegotiation, so there is no second epoch of keys.
  if (epoch > 0) return epoch === 1 ? undefined : 'not-a-record';
  if (established) return 'late-plaintext';
  return isWantedPlaintext(datagram, at, end, role) ? undefined : 'unwanted-plaintext';
}

function isWantedPlaintext(datagram: Buffer, at: number, end: number, role: DtlsRole): boolean {
  const type = datagram[at]!;
  const body = at + HEADER_LENGTH;
  if (datagram.readUIntBE(at + 5, 6) >= PLAINTEXT_SEQUENCES) return false;
  if (type === CHANGE_CIPHER_SPEC) return end - body === 1 && datagram[body] === 1;
  // A plaintext alert is anyone's word: a peer that really gives up runs into the setup deadline.
  return type === HANDSHAKE && holdsWholeFragments(datagram, body, end, role);
}

/** One or more handshake fragments that fit their messages, and nothing else. */
function holdsWholeFragments(
  datagram: Buffer,
  start: number,
  end: number,
  role: DtlsRole,
): boolean {
  let at = start;
  while (at + MESSAGE_HEADER_LENGTH <= end) {
    const length = datagram.readUIntBE(at + 1, 3);
    const offset = datagram.readUIntBE(at + 6, 3);
    const size = datagram.readUIntBE(at + 9, 3);
    if (!PLAINTEXT_MESSAGES[role].has(datagram[at]!)) return false;
    if (length > MAX_MESSAGE_LENGTH || offset + size > length) return false;
    at += MESSAGE_HEADER_LENGTH + size;
  }
  return at === end && at > start;
}
