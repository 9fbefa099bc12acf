/** A slice of `npm run load`: everything of it at small size, and nothing lost or left. */
import { describe, expect, test } from 'vitest';
import { loadFlows } from '../bench/load/flows.ts';
import { loadSessions } from '../bench/load/sessions.ts';
import { loadSetups } from '../bench/load/setups.ts';
import { barLine, type Bar } from '../bench/transceiver/bench.ts';

const log = () => undefined;

function missed(bars: readonly Bar[]): string[] {
  return bars.filter(({ met }) => !met).map(barLine);
}

// What processes use is read from /proc, and callers are all over 127.0.0.0/8.
describe.runIf(process.platform === 'linux')('a small load', () => {
  test('sessions in all regions speak, and nothing is lost', async () => {
    const { figures, bars } = await loadSessions({ sessions: 12, minutes: 0.1, log });
    expect({ missed: missed(bars), figures }).toMatchObject({ missed: [] });
    expect(figures).toMatchObject({ sessions: 12, sent: 12 * 50 * 6, echoed: 12 * 50 * 6 });
    expect(Object.values(figures.byRegion)).toEqual([4, 4, 4]);
    for (const { cores, residentMB } of Object.values(figures.processes)) {
      expect(cores).toBeGreaterThan(0);
      expect(residentMB[0]).toBeGreaterThan(0);
    }
  });

  test('calls that come and go as fast as they can leave nothing behind', async () => {
    const { figures, bars } = await loadSetups({ steps: [8], stepSeconds: 1, seconds: 2, log });
    expect({ missed: missed(bars), figures }).toMatchObject({ missed: [] });
    expect(figures.setup.p50).toBeGreaterThan(0);
  });

  test('flows are held at once, and go in their time', async () => {
    const size = { flows: 3000, rate: 2000, seconds: 2, idle: 10_000 };
    const { figures, bars } = await loadFlows({ ...size, log });
    expect({ missed: missed(bars), figures }).toMatchObject({ missed: [] });
    for (const { held, sent, left } of figures.rounds) {
      expect({ held, left }).toEqual({ held: 3000, left: 0 });
      expect(sent).toBeGreaterThan(0);
    }
  });
});
