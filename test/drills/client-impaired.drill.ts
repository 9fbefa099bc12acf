/** Clients call over a first mile that loses, delays, reorders and repeats packets. */
import { ImpairedPath } from '../network/impaired-path.ts';
import type { Drill } from './drill.ts';
import { BAD_NETWORK, talkOver } from './impaired-network.ts';
import { HOME } from './system.ts';

const CALLS = 6;

/** Bits per second each way: a phone at the edge of its cell. */
const RATE = 256_000;

/** What the impairments of the first client are made from; those of others follow. */
const SEED = 20_261;

export const drill: Drill = {
  name: 'client-impaired',
  holds:
    'Over a first mile of 256 kbit/s with 5 % loss, 30 ms jitter, reordering and duplicates, calls are set up and go on, and no packet is heard twice.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const paths: ImpairedPath[] = [];
    const calls = await stage.calls(system, HOME, CALLS, async (relay) => {
      const network = { ...BAD_NETWORK, rate: RATE };
      const path = stage.use(await ImpairedPath.open(relay, network, SEED + paths.length));
      paths.push(path);
      return path.address;
    });
    return talkOver(stage, calls, paths, region);
  },
};
