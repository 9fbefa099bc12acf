/** What it means for calls when a service of a local run ends by itself. */
import type { Footprint } from '../protocol/footprint.ts';

const REMEDY = 'To bring it back, press Ctrl-C and start again.';

export function edgeLost(how: string): string {
  const meaning = 'The page is gone and no call can start; calls that stand go on.';
  return `edge: its process has ended ${how}. ${meaning} ${REMEDY}`;
}

/** @param left Regions that still run and can take calls. */
export function regionLost(
  name: string,
  how: string,
  footprint: Footprint,
  left: readonly string[],
): string {
  return `${name}: its process has ended ${how}. ${meaningOf(name, footprint, left)} ${REMEDY}`;
}

function meaningOf(name: string, footprint: Footprint, left: readonly string[]): string {
  const lost = 'The calls it held are lost;';
  const { state, failover } = footprint[name]!;
  if (state !== 'active') return `${lost} new ones did not go there, for it is ${state}.`;
  const others = left.filter((it) => it !== name && footprint[it]!.state === 'active');
  if (others.length === 0) return `${lost} new ones fail, for no other region can take them.`;
  const inOrder = [...new Set([...failover, ...others])].filter((it) => others.includes(it));
  return `${lost} new ones from near it go to ${inOrder.join(' or ')}.`;
}
