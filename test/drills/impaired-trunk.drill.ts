/** The network between two regions loses, delays, reorders and repeats what their relays send each other. */
import { ImpairedTrunk } from '../network/impaired-trunk.ts';
import { UdpPath } from '../network/udp-path.ts';
import type { Drill } from './drill.ts';
import { BAD_NETWORK, talkOver } from './impaired-network.ts';
import { ELSEWHERE, HOME } from './system.ts';

const CALLS = 6;

/** Milliseconds from Frankfurt to Virginia. */
const DELAY = 45;

/** What the impairments are made from. */
const SEED = 20_262;

export const drill: Drill = {
  name: 'impaired-trunk',
  holds:
    'With 5 % loss, 30 ms jitter, reordering and duplicates between regions, calls across are set up and go on, and no packet is heard twice.',
  async run(stage) {
    // Calls from there live elsewhere then.
    const system = await stage.system({ [HOME]: 0 });
    const [ingress, home] = [system.region(HOME), system.region(ELSEWHERE)];
    const trunk = stage.use(
      await ImpairedTrunk.open({
        ingress: ingress.trunk,
        home: home.trunk,
        impairment: { ...BAD_NETWORK, delay: DELAY },
        seed: SEED,
      }),
    );
    await ingress.relay.kill();
    const { cluster, name: region } = home;
    await ingress.startRelay([{ cluster, region, relays: [trunk.home] }]);
    // The second choice of clients would lead around it.
    const nowhere = stage.use(await UdpPath.open(home.listener, { up: () => {} }));
    const calls = await stage.calls(system, HOME, CALLS, async (relay) => {
      return relay.port === ingress.listener.port ? relay : nowhere.address;
    });
    return talkOver(stage, calls, [trunk], home);
  },
};
