/** What stands in for those parts of werift's SCTP that have no bound in memory or in work. */
import type { RTCSctpTransport } from 'werift';
import {
  transportInternals,
  type HeldChunk,
  type InboundStream,
  type SctpInternals,
} from './werift-internals.ts';

/** Most streams a client may send on; the data on all others is acknowledged and forgotten. */
export const MAX_STREAMS = 128;

/** Most duplicate TSNs that one SACK reports. */
const MAX_DUPLICATES = 16;

/** Bytes of the headers around a chunk's data: IPv4, UDP, a DTLS record of AES-GCM, SCTP and DATA. */
const PACKET_OVERHEAD = 20 + 8 + 37 + 12 + 16;

/**
 * Counts headers into what is in flight. Werift puts each message into a packet of its own, so small
 * ones would go out by the hundred at once and overflow the first buffer of their path.
 */
export function countHeaders(sctp: SctpInternals): void {
  sctp.flightSizeIncrease = (chunk) => {
    chunk.bookSize = chunk.userData.length + PACKET_OVERHEAD;
    sctp.flightSize += chunk.bookSize;
  };
}

/** Bounds what the client's packets make an association keep, and what each of them costs. */
export function boundInbound(sctp: SctpInternals): void {
  const getInboundStream = sctp.getInboundStream.bind(sctp);
  const sink = sinkOf(sctp);
  sctp.getInboundStream = (stream) => {
    const { inboundStreams } = sctp;
    const isKnown = stream in inboundStreams;
    if (!isKnown && Object.keys(inboundStreams).length >= MAX_STREAMS) return sink;
    return getInboundStream(stream);
  };
  sctp.markReceived = (tsn) => markReceived(sctp, tsn);
}

/**
 * Makes one pass at a time over the messages that wait to be sent. Werift starts one more with each
 * message and each SACK, and all of them wake whenever a packet leaves.
 *
 * @param attempt Runs a pass; callers do not wait for it, as its end may need their next packet.
 */
export function flushOnce(
  transport: RTCSctpTransport,
  attempt: (work: Promise<void>) => void,
): void {
  const internals = transportInternals(transport);
  const flush = internals.dataChannelFlush.bind(internals);
  let isWanted = false;
  let isFlushing = false;
  const flushWhileWanted = async () => {
    isFlushing = true;
    try {
      while (isWanted) {
        isWanted = false;
        // oxlint-disable-next-line no-await-in-loop -- one pass at a time is the point
        await flush();
      }
    } finally {
      isFlushing = false;
    }
  };
  internals.dataChannelFlush = () => {
    isWanted = true;
    if (!isFlushing) attempt(flushWhileWanted());
    return Promise.resolve();
  };
}

/** Takes chunks and keeps none. */
function sinkOf(sctp: SctpInternals): InboundStream {
  return {
    reassembly: [],
    streamSequenceNumber: 0,
    addChunk(chunk: HeldChunk) {
      // Werift takes from the window what a stream holds, which here is nothing.
      sctp.advertisedRwnd += chunk.userData.length;
    },
    popMessages: () => [],
  };
}

/** True for a TSN received before. Werift sorts all that came behind a gap for each chunk, and as text. */
function markReceived(sctp: SctpInternals, tsn: number): boolean {
  const { sackMisOrdered, sackDuplicates, lastReceivedTsn = 0 } = sctp;
  const isBehind = (lastReceivedTsn - tsn) >>> 0 < 2 ** 31;
  if (isBehind || sackMisOrdered.has(tsn)) {
    if (sackDuplicates.length < MAX_DUPLICATES) sackDuplicates.push(tsn);
    return true;
  }
  sackMisOrdered.add(tsn);
  let last = lastReceivedTsn;
  while (sackMisOrdered.delete((last + 1) >>> 0)) last = (last + 1) >>> 0;
  sctp.lastReceivedTsn = last;
  return false;
}
