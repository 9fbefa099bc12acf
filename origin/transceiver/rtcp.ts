/** RTCP as bytes (RFC 3550 §6.4): reports read from any peer, written as we send them. */

const VERSION = 2;
const PADDING_BIT = 0x20;
const COUNT = 0x1f;
const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const BYE = 203;
const CNAME = 1;

const WORD = 4;
const HEADER_LENGTH = 4;
const SSRC_LENGTH = 4;
const SENDER_INFO_LENGTH = 20;
const BLOCK_LENGTH = 24;

/** What a sender says of its stream. */
export interface SenderInfo {
  /** Seconds since 1900, and their fraction in units of 2^-32 s. */
  readonly ntpSeconds: number;
  readonly ntpFraction: number;
  readonly rtpTimestamp: number;
  /** Modulo 2^32, as is `octets`, which counts payloads alone. */
  readonly packets: number;
  readonly octets: number;
}

/** What a receiver says of one stream. */
export interface ReportBlock {
  readonly ssrc: number;
  /** Share lost since the report before, in 256ths. */
  readonly fractionLost: number;
  /** From -2^23 to 2^23 - 1; negative when packets came twice. */
  readonly lost: number;
  /** Rounds of sequence numbers in the upper 16 bits. */
  readonly highestSequence: number;
  /** In ticks of the stream's clock. */
  readonly jitter: number;
  /** Middle 32 bits of the last sender report's NTP time; 0 for none. */
  readonly lastReport: number;
  /** Since that report came, in units of 2^-16 s. */
  readonly delay: number;
}

export interface Reports {
  /** Who reports. */
  readonly ssrc: number;
  /** Undefined in a receiver report. */
  readonly sender: SenderInfo | undefined;
  readonly blocks: readonly ReportBlock[];
}

export interface ReadRtcp {
  readonly reports: readonly Reports[];
  /** Sources that say goodbye. */
  readonly byes: readonly number[];
}

/**
 * Total. The reports in a compound packet, or in one of reduced size (RFC 5506); other kinds of packets
 * are passed over. Undefined when its lengths do not add up (RFC 3550 A.2).
 */
export function readRtcp(compound: Buffer): ReadRtcp | undefined {
  const reports: Reports[] = [];
  const byes: number[] = [];
  for (let at = 0; at < compound.length;) {
    if (at + HEADER_LENGTH > compound.length || compound[at]! >> 6 !== VERSION) return undefined;
    const end = at + HEADER_LENGTH + WORD * compound.readUInt16BE(at + 2);
    if (end > compound.length) return undefined;
    // Only the last one may have padding, of whole words and at least one.
    const padded = (compound[at]! & PADDING_BIT) !== 0;
    const padding = padded ? compound[end - 1]! : 0;
    const bodyEnd = end - padding;
    if (padded && (end < compound.length || padding === 0 || padding % WORD !== 0))
      return undefined;
    if (bodyEnd < at + HEADER_LENGTH) return undefined;
    const body = compound.subarray(at + HEADER_LENGTH, bodyEnd);
    if (!readBody(compound[at + 1]!, compound[at]! & COUNT, body, { reports, byes })) {
      return undefined;
    }
    at = end;
  }
  return compound.length > 0 ? { reports, byes } : undefined;
}

/** False when the body is shorter than its count says. */
function readBody(
  type: number,
  count: number,
  body: Buffer,
  into: { reports: Reports[]; byes: number[] },
): boolean {
  if (type === BYE) {
    if (body.length < count * SSRC_LENGTH) return false;
    for (let i = 0; i < count; i++) into.byes.push(body.readUInt32BE(i * SSRC_LENGTH));
    return true;
  }
  if (type !== SENDER_REPORT && type !== RECEIVER_REPORT) return true;
  const blocksAt = SSRC_LENGTH + (type === SENDER_REPORT ? SENDER_INFO_LENGTH : 0);
  // Extensions of a profile may follow the blocks.
  if (body.length < blocksAt + count * BLOCK_LENGTH) return false;
  into.reports.push({
    ssrc: body.readUInt32BE(0),
    sender: type === SENDER_REPORT ? readSender(body) : undefined,
    blocks: Array.from({ length: count }, (_, i) => readBlock(body, blocksAt + i * BLOCK_LENGTH)),
  });
  return true;
}

function readSender(body: Buffer): SenderInfo {
  return {
    ntpSeconds: body.readUInt32BE(4),
    ntpFraction: body.readUInt32BE(8),
    rtpTimestamp: body.readUInt32BE(12),
    packets: body.readUInt32BE(16),
    octets: body.readUInt32BE(20),
  };
}

function readBlock(body: Buffer, at: number): ReportBlock {
  return {
    ssrc: body.readUInt32BE(at),
    fractionLost: body[at + 4]!,
    lost: body.readIntBE(at + 5, 3),
    highestSequence: body.readUInt32BE(at + 8),
    jitter: body.readUInt32BE(at + 12),
    lastReport: body.readUInt32BE(at + 16),
    delay: body.readUInt32BE(at + 20),
  };
}

/** A compound packet: a report, who reports by name, and a goodbye when `leaves`. */
export function writeRtcp(reports: Reports, cname: string, leaves = false): Buffer {
  const packets = [report(reports), description(reports.ssrc, cname)];
  if (leaves) {
    const bye = packet(BYE, 1, SSRC_LENGTH);
    bye.writeUInt32BE(reports.ssrc, HEADER_LENGTH);
    packets.push(bye);
  }
  return Buffer.concat(packets);
}

function packet(type: number, count: number, bodyLength: number): Buffer {
  const bytes = Buffer.alloc(HEADER_LENGTH + bodyLength);
  bytes[0] = (VERSION << 6) | count;
  bytes[1] = type;
  bytes.writeUInt16BE(bodyLength / WORD, 2);
  return bytes;
}

function report({ ssrc, sender, blocks }: Reports): Buffer {
  const type = sender ? SENDER_REPORT : RECEIVER_REPORT;
  const blocksAt = SSRC_LENGTH + (sender ? SENDER_INFO_LENGTH : 0);
  const bytes = packet(type, blocks.length, blocksAt + blocks.length * BLOCK_LENGTH);
  const body = bytes.subarray(HEADER_LENGTH);
  body.writeUInt32BE(ssrc);
  if (sender) {
    const { ntpSeconds, ntpFraction, rtpTimestamp, packets, octets } = sender;
    for (const [i, value] of [ntpSeconds, ntpFraction, rtpTimestamp, packets, octets].entries()) {
      body.writeUInt32BE(value, SSRC_LENGTH + i * WORD);
    }
  }
  for (const [i, block] of blocks.entries()) writeBlock(body, blocksAt + i * BLOCK_LENGTH, block);
  return bytes;
}

function writeBlock(body: Buffer, at: number, block: ReportBlock): void {
  body.writeUInt32BE(block.ssrc, at);
  body[at + 4] = block.fractionLost;
  body.writeIntBE(block.lost, at + 5, 3);
  body.writeUInt32BE(block.highestSequence, at + 8);
  body.writeUInt32BE(block.jitter, at + 12);
  body.writeUInt32BE(block.lastReport, at + 16);
  body.writeUInt32BE(block.delay, at + 20);
}

/** RFC 3550 §6.5: one chunk with one item, ended by at least one zero byte. */
function description(ssrc: number, cname: string): Buffer {
  const name = Buffer.from(cname);
  const itemLength = 2 + name.length;
  const bytes = packet(
    SOURCE_DESCRIPTION,
    1,
    SSRC_LENGTH + WORD * (Math.floor(itemLength / WORD) + 1),
  );
  bytes.writeUInt32BE(ssrc, HEADER_LENGTH);
  bytes[HEADER_LENGTH + SSRC_LENGTH] = CNAME;
  bytes[HEADER_LENGTH + SSRC_LENGTH + 1] = name.length;
  bytes.set(name, HEADER_LENGTH + SSRC_LENGTH + 2);
  return bytes;
}
