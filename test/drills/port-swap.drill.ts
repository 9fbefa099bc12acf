/** A NAT gives the ports of two calls to each other’s client. */
import { placeOfRegion } from '../../local/place.ts';
import { ToneListener } from '../../local/tone.ts';
import { Nat, type NatHost } from '../network/nat.ts';
import { Calls, DrillCall } from './calls.ts';
import type { Drill } from './drill.ts';
import type { Stage } from './stage.ts';
import { HOME, type System } from './system.ts';

/** What each call says: none is another's harmonic. */
const TONES = [440, 550, 700, 890];

/** Share of another call's tone that would be heard as such; what packet loss does to a tone stays below. */
const ANOTHER_HEARD = 0.5;

/** A call, where it is behind the NAT, and how much of another call its client heard. */
interface Seat {
  readonly call: DrillCall;
  readonly host: NatHost;
  readonly overheard: { share: number };
}

export const drill: Drill = {
  name: 'port-swap',
  holds: '',
  async run(stage) {
    const system = await stage.system();
    const nat = stage.use(new Nat(system.region(HOME).listener));
    const seats: Seat[] = [];
    for (const toneHz of TONES) seats.push(await sit(stage, system, nat, toneHz));
    const transceiver = ({ call }: Seat) => call.path['transceiver']!;
    seats.sort((a, b) => transceiver(a).localeCompare(transceiver(b)));
    stage.log(seats.map(transceiver).join(' '));
    const calls = new Calls(seats.map(({ call }) => call));
    calls.measure();
    const [a, b, c, d] = seats as [Seat, Seat, Seat, Seat];
    const recoveries: number[] = [];
    for (const pairs of [
      [
        [a, b],
        [c, d],
      ],
      [
        [a, d],
        [b, c],
      ],
    ] as const) {
      for (const [one, other] of pairs) nat.swap(one.host, other.host);
      const swappedAt = performance.now();
      recoveries.push(await calls.heardAgain(swappedAt + 500, stage.signal));
      await stage.pause(5_000);
      stage.log(
        `gap ${calls.longestGap}, ${recoveries.at(-1)}, strays ${seats.map(({ call }) => call.strays).join(' ')}`,
      );
    }
    const gap = calls.longestGap;
    const lost = await calls.lost();
    const overheard = Math.max(...seats.map((seat) => seat.overheard.share));
    stage.log(`overheard ${overheard}`);
    stage.must(overheard < ANOTHER_HEARD, 'a client heard another client’s call');
    stage.must(lost === 0, `${lost} of ${TONES.length} calls were lost`);
    return { calls: TONES.length, lost, gap };
  },
};

async function sit(stage: Stage, system: System, nat: Nat, toneHz: number): Promise<Seat> {
  const host = await nat.host();
  const others = TONES.filter((hz) => hz !== toneHz).map((hz) => new ToneListener(hz));
  const overheard = { share: 0 };
  const call = await DrillCall.place({
    edge: system.edge.url,
    place: placeOfRegion(system.footprint[HOME]!),
    toneHz,
    through: async () => host.address,
    onSound: (samples, sampleRate) => {
      for (const other of others) {
        other.hear(samples, sampleRate);
        overheard.share = Math.max(overheard.share, other.share);
      }
    },
  });
  return { call: stage.use(call), host, overheard };
}
