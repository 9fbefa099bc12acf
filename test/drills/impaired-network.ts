/** A bad network, and what its calls must not do: hear a packet twice. */
import * as v from 'valibot';
import type { ImpairmentOptions } from '../network/impairment.ts';
import type { RtpLedger } from '../network/rtp-ledger.ts';
import type { Calls } from './calls.ts';
import type { DrillRegion } from './region.ts';

/** Worse than any backbone, about a crowded Wi-Fi. */
export const BAD_NETWORK: ImpairmentOptions = {
  loss: 0.05,
  jitter: 30,
  reordered: 0.02,
  duplicated: 0.01,
};

/** Milliseconds without audio that loss may make on a busy machine: a call that needs its next check takes longer. */
export const LOSS_GAP = 2_000;

/** What is read of a transceiver's dump. */
const DumpSchema = v.object({
  transceiver: v.object({
    sessions: v.array(v.object({ counters: v.object({ rtpIn: v.number() }) })),
  }),
});

/** Packets of audio that the region's transceivers have taken for new ones. */
export async function audioTaken(region: DrillRegion): Promise<number> {
  let taken = 0;
  for (const id of region.ids) {
    const response = await region.transceiver(id).get('/dump');
    const { transceiver } = v.parse(DumpSchema, await response.json());
    for (const { counters } of transceiver.sessions) taken += counters.rtpIn;
  }
  return taken;
}

/** Copies of packets that came both ways, and those of them that went into a decoder. */
export interface Duplicates {
  readonly came: number;
  readonly decoded: number;
}

/** @param up What came to the region's transceivers of the calls' audio. */
export async function duplicatesOf(
  calls: Calls,
  up: RtpLedger,
  region: DrillRegion,
): Promise<Duplicates> {
  let came = up.total - up.distinct;
  // Ledgers are read after the counters that must not exceed them.
  let decoded = Math.max(0, (await audioTaken(region)) - up.distinct);
  for (const { client, audio } of calls.all) {
    decoded += Math.max(0, (await client.packetsReceived()) - audio.distinct);
    came += audio.total - audio.distinct;
  }
  return { came, decoded };
}
