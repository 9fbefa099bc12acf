import { describe, expect, it } from 'vitest';
import { relayPath, StageTimings } from './response-headers.ts';

describe('StageTimings', () => {
  it('writes stages in their order and adds equal ones up', () => {
    const timings = new StageTimings();
    timings.add('roster', 1.25);
    timings.add('mint', 0);
    timings.add('roster', 2);
    expect(String(timings)).toBe('roster;dur=3.3, mint;dur=0.0');
    expect(timings.durations).toEqual({ roster: 3.3, mint: 0 });
  });

  it('measures work that fails, too', async () => {
    const timings = new StageTimings();
    const failing = timings.measure('forward', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(String(timings)).toMatch(/^forward;dur=\d+\.\d$/);
  });
});

describe('relayPath', () => {
  const path = { cluster: 'us-east-1', ingress: 'eu-central-1', transceiver: 7 };
  const rest = 'cluster="us-east-1", ingress="eu-central-1", transceiver=7';

  it('is a dictionary', () => {
    expect(relayPath({ ...path, colo: 'FRA' })).toBe(`colo="FRA", ${rest}`);
  });

  it.each([undefined, '', 'fra', 'FRA", x="', 'FRAN'])('leaves out the colo %o', (colo) => {
    expect(relayPath({ ...path, colo })).toBe(rest);
  });
});
