/** A bad network, and what its calls must not do: hear a packet twice. */
import * as v from 'valibot';
import type { ImpairmentOptions } from '../network/impairment.ts';
import type { RtpLedger } from '../network/rtp-ledger.ts';
import type { Calls } from './calls.ts';
import type { Figures } from './drill.ts';
import type { DrillRegion } from './region.ts';
import type { Stage } from './stage.ts';

/** Worse than any backbone, about a crowded Wi-Fi. */
export const BAD_NETWORK: ImpairmentOptions = {
  loss: 0.05,
  jitter: 30,
  reordered: 0.02,
  duplicated: 0.01,
};

/** Milliseconds without audio that loss may make on a busy machine: a call that needs its next check takes longer. */
const LOSS_GAP = 2_000;

/** Milliseconds of talking. */
const TALK = 12_000;

/** Milliseconds until what was on its way has come. */
const ON_ITS_WAY = 500;

/** What is read of a transceiver's dump. */
const DumpSchema = v.object({
  transceiver: v.object({
    sessions: v.array(v.object({ counters: v.object({ rtpIn: v.number() }) })),
  }),
});

/** Packets of audio that the region's transceivers have taken for new ones. */
async function audioTaken(region: DrillRegion): Promise<number> {
  let taken = 0;
  for (const id of region.ids) {
    const response = await region.transceiver(id).get('/dump');
    const { transceiver } = v.parse(DumpSchema, await response.json());
    for (const { counters } of transceiver.sessions) taken += counters.rtpIn;
  }
  return taken;
}

/** A network that calls are made over. */
interface Network {
  isCut: boolean;
  readonly audioUp: RtpLedger;
}

/** Copies of packets that came, both ways, and how many packets went into decoders again. */
interface Duplicates {
  readonly came: number;
  readonly decoded: number;
}

/**
 * Counts while nothing is on its way: the networks are cut meanwhile.
 *
 * @param networks All ways to the region's transceivers that the calls' audio takes.
 */
async function duplicatesOf(
  stage: Stage,
  calls: Calls,
  networks: readonly Network[],
  region: DrillRegion,
): Promise<Duplicates> {
  for (const network of networks) network.isCut = true;
  await stage.pause(ON_ITS_WAY);
  let decoded = await audioTaken(region);
  let came = 0;
  for (const { audioUp } of networks) {
    decoded -= audioUp.distinct;
    came += audioUp.total - audioUp.distinct;
  }
  for (const { client, audio } of calls.all) {
    decoded += (await client.packetsReceived()) - audio.distinct;
    came += audio.total - audio.distinct;
  }
  for (const network of networks) network.isCut = false;
  return { came, decoded };
}

/**
 * Lets the calls talk, and judges that all go on, each is heard, and no copy is.
 *
 * @param networks All ways to the region's transceivers that the calls' audio takes.
 */
export async function talkOver(
  stage: Stage,
  calls: Calls,
  networks: readonly Network[],
  region: DrillRegion,
): Promise<Figures> {
  calls.measure();
  await stage.pause(TALK);
  const gap = calls.longestGap;
  const { came, decoded } = await duplicatesOf(stage, calls, networks, region);
  const lost = await calls.lost();
  const count = calls.all.length;
  stage.must(gap <= LOSS_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
  stage.log(`copies: ${came}, taken beyond what came: ${decoded}`);
  stage.must(came > 0, 'the network repeated nothing');
  stage.must(decoded <= 0, `${decoded} packets were decoded twice`);
  stage.must(lost === 0, `${lost} of ${count} calls were lost`);
  return { calls: count, lost, gap, note: `${came} copies came, none was decoded` };
}
