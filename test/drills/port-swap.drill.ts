/** A NAT gives the ports of two calls to each other's clients. */
import { placeOfRegion } from '../../local/place.ts';
import { ToneListener } from '../../local/tone.ts';
import { FLOW_LIMITS } from '../../origin/relay/flow-memory.ts';
import { Nat, type NatHost } from '../network/nat.ts';
import { Calls, DrillCall } from './calls.ts';
import type { Drill } from './drill.ts';
import type { Stage } from './stage.ts';
import { HOME, type System } from './system.ts';

/** What each call says: none is another's harmonic. */
const TONES = [440, 550, 700, 890];

/**
 * Which calls swap, one time after the other, in the order of their transceivers: neighbours most often share
 * one, the outer and the inner ones seldom do.
 */
const SWAPS = [
  [
    [0, 1],
    [2, 3],
  ],
  [
    [0, 3],
    [1, 2],
  ],
] as const;

/** Share of another call's tone that would be heard as such; what a gap does to a tone stays far below. */
const ANOTHER_HEARD = 0.5;

/** Milliseconds until all are heard: a port in use is defended so long against checks of others, which may be spoofed. */
const DEFENDED = FLOW_LIMITS.tokenQuiet + 5_000;

/** Milliseconds until what was on its way at a swap has come. */
const ON_ITS_WAY = 500;

/** Milliseconds to go on talking after each swap. */
const STAY = 4_000;

/** A call, where it is behind the NAT, and the most of another call's tone that its client heard. */
interface Seat {
  readonly call: DrillCall;
  readonly host: NatHost;
  readonly overheard: { share: number };
}

export const drill: Drill = {
  name: 'port-swap',
  holds: `A NAT swaps the ports of two calls: nobody ever hears the other’s, and both go on within ${DEFENDED / 1000} s, without anything to do.`,
  async run(stage) {
    const system = await stage.system();
    const nat = stage.use(new Nat(system.region(HOME).listener));
    const seats: Seat[] = [];
    for (const toneHz of TONES) seats.push(await takeSeat(stage, system, nat, toneHz));
    seats.sort((a, b) => transceiverOf(a).localeCompare(transceiverOf(b)));
    const calls = new Calls(seats.map(({ call }) => call));
    calls.measure();
    let recovery = 0;
    for (const pairs of SWAPS) {
      for (const [one, other] of pairs) nat.swap(seats[one]!.host, seats[other]!.host);
      const swappedAt = performance.now();
      await calls.heardAgain(swappedAt + ON_ITS_WAY, stage.signal);
      recovery = Math.max(recovery, performance.now() - swappedAt);
      await stage.pause(STAY);
    }
    const gap = calls.longestGap;
    const lost = await calls.lost();
    const overheard = Math.max(...seats.map((seat) => seat.overheard.share));
    const strays = seats.reduce((sum, { call }) => sum + call.strays, 0);
    stage.must(overheard < ANOTHER_HEARD, 'a client heard another client’s call');
    stage.must(recovery <= DEFENDED, `all were heard again only ${recovery.toFixed(0)} ms after`);
    stage.must(lost === 0, `${lost} of ${calls.count} calls were lost`);
    const note = `${strays} packets came to the other client, which cannot open them`;
    return { calls: calls.count, lost, gap, recovery, note };
  },
};

function transceiverOf({ call }: Seat): string {
  return call.path['transceiver']!;
}

async function takeSeat(stage: Stage, system: System, nat: Nat, toneHz: number): Promise<Seat> {
  const host = await nat.host();
  const others = TONES.filter((hz) => hz !== toneHz).map((hz) => new ToneListener(hz));
  const overheard = { share: 0 };
  const call = await DrillCall.place({
    edge: system.edge.url,
    place: placeOfRegion(system.footprint[HOME]!),
    toneHz,
    through: async () => host.address,
    onSound(samples, sampleRate) {
      for (const other of others) {
        other.hear(samples, sampleRate);
        overheard.share = Math.max(overheard.share, other.share);
      }
    },
  });
  return { call: stage.use(call), host, overheard };
}
