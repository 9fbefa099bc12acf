/** How many sessions a running stack holds, and where. */
import type { Stack } from '../../local/stack.ts';

/** Sessions by region name; regions without any are left out. */
export async function sessionsOf(stack: Stack): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, region] of stack.regions) {
    const transceivers = Object.values(await region.dump());
    const sessions = transceivers.reduce(
      (sum, transceiver) => sum + transceiver.sessions.length,
      0,
    );
    if (sessions > 0) counts[name] = sessions;
  }
  return counts;
}
