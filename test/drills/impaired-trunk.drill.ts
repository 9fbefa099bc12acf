/** The network between two regions loses, delays, reorders and repeats what their relays send each other. */
import { ImpairedTrunk } from '../network/impaired-trunk.ts';
import { UdpPath } from '../network/udp-path.ts';
import type { Drill } from './drill.ts';
import { BAD_NETWORK, LOSS_GAP, duplicatesOf } from './impaired-network.ts';
import { ELSEWHERE, HOME } from './system.ts';

const CALLS = 6;

/** Milliseconds of talking. */
const TALK = 12_000;

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
    calls.measure();
    await stage.pause(TALK);
    const gap = calls.longestGap;
    const { came, decoded } = await duplicatesOf(stage, calls, [trunk], home);
    const lost = await calls.lost();
    stage.must(gap <= LOSS_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    stage.log(`copies: ${came}, taken beyond what came: ${decoded}`);
    stage.must(came > 0, 'the network repeated nothing');
    stage.must(decoded <= 0, `${decoded} packets were decoded twice`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap, note: `${came} copies came, none was decoded` };
  },
};
