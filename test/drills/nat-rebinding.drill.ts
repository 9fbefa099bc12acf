/** The NAT of clients gives them other ports in the midst of their calls, and then another address. */
import { platform } from 'node:os';
import { LOOPBACK } from '../../local/ports.ts';
import { Nat } from '../network/nat.ts';
import type { Drill } from './drill.ts';
import { HOME } from './system.ts';

const CALLS = 6;

/** Milliseconds until the client's next check tells its new port, and some for a busy machine. */
const NEXT_CHECK = 2_500 + 1_000;

/** Milliseconds to stay with each port. */
const STAY = 3_000;

/** Where there is one: elsewhere loopback has no other. */
const OTHER_ADDRESS = platform() === 'linux' ? '127.0.0.2' : LOOPBACK;

export const drill: Drill = {
  name: 'nat-rebinding',
  holds:
    'A NAT forgets a client’s port and gives it another, twice, and then another address: the call goes on by the next check.',
  async run(stage) {
    const system = await stage.system();
    const nat = stage.use(new Nat(system.region(HOME).listener));
    const calls = await stage.calls(system, HOME, CALLS, async () => (await nat.host()).address);
    calls.measure();
    for (const address of [LOOPBACK, LOOPBACK, OTHER_ADDRESS]) {
      await nat.rebind('closed', address);
      const reboundAt = performance.now();
      await stage.pause(STAY);
      await calls.heardAgain(reboundAt + STAY, stage.signal);
    }
    const gap = calls.longestGap;
    const lost = await calls.lost();
    stage.must(gap <= NEXT_CHECK, `a call was not heard for ${gap.toFixed(0)} ms`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap };
  },
};
