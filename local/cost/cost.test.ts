import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readFootprint } from '../../origin/footprint-files.ts';
import type { Region } from '../../protocol/footprint-region.ts';
import {
  CostError,
  millionMinutesOf,
  monthOf,
  RELAY_SESSIONS,
  SCALE,
  total,
  transceiverSessions,
} from './cost.ts';
import { PRICES } from './prices.ts';
import { report } from './report.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

const footprint = await readFootprint(new URL('regions', ROOT).pathname);
const region = footprint['us-east-1']!;

/** The region with another pool of relays. */
function withRelays(relay: Partial<Region['relay']>): Region {
  return { ...region, relay: { ...region.relay, ...relay } };
}

describe('the cost of a region', () => {
  test('for being there grows with what its pools have at least', () => {
    const machine = monthOf(withRelays({ min: 1 })).relays!;
    expect(monthOf(withRelays({ min: 5, max: 9 })).relays).toBeCloseTo(5 * machine);
    expect(monthOf(withRelays({ min: 0 })).relays).toBe(0);
    // Two processors, the address and the metrics for 730 hours, and the disk.
    expect(machine).toBeCloseTo(730 * (2 * 0.0624 + 0.005 + 0.00288) + 16 * 0.08);
  });

  test('has each node of Redis', () => {
    const redis = { node_type: 'cache.r7g.2xlarge', replicas: 2 };
    expect(monthOf({ ...region, redis }).Redis).toBeCloseTo(3 * 8 * 0.1095 * 730);
  });

  test('for minutes follows from packets, sizes and prices', () => {
    const cost = millionMinutesOf(region);
    // 3,000 packets a minute of 136 bytes are 408 GB in each direction.
    expect(cost['to clients']).toBeCloseTo(408 * PRICES.egressGB);
    expect(cost.accelerator).toBeCloseTo(408 * PRICES.acceleratorGB);
    // On the trunk there are 40 bytes more, and of two zones the other one is it half the time.
    expect(cost['between zones']).toBeCloseTo(((2 * (408 + 528)) / 2) * PRICES.zoneGB);
    expect(cost['to the model']).toBeCloseTo(4_194 * PRICES.egressGB);
    expect(total(cost)).toBeCloseTo(Object.values(cost).reduce((sum, part) => sum + part));
  });

  test('for minutes does not depend on how large the transceivers are', () => {
    const large = millionMinutesOf(region).transceivers!;
    const transceiver = { ...region.transceiver, instance_type: 'c7g.4xlarge' };
    const larger = millionMinutesOf({ ...region, transceiver }).transceivers!;
    // But for what each machine has beside its processors.
    expect(larger).toBeLessThan(large);
    expect(larger).toBeGreaterThan(0.8 * large);
  });

  test.each([
    ['c7g.medium', 120],
    ['c7g.large', 240],
    ['c7g.xlarge', 480],
    ['c7g.16xlarge', 7_680],
  ])('counts the processors of %s', (type, sessions) => {
    expect(transceiverSessions(type)).toBe(sessions);
  });

  test.each([
    ['x99.large', 'x99.large has no price: add x99 to local/cost/prices.ts.'],
    ['constructor.large', 'constructor.large has no price'],
    ['c7g.metal', 'c7g.metal is of a size that is not known here.'],
  ])('says what is wrong with %s', (type, message) => {
    const act = () => monthOf(withRelays({ instance_type: type }));
    expect(act).toThrow(CostError);
    expect(act).toThrow(message);
  });
});

test('the report has planned regions apart', () => {
  const planned: Region = { ...region, state: 'planned' };
  const text = report({ ...footprint, 'sa-east-1': planned });
  expect(text.startsWith(`${report(footprint)}\n\nPlanned, and not built: `)).toBe(true);
  expect(text.match(/^sa-east-1 +[1-9]\d* = /gm)).toHaveLength(2);
});

test('pools are held at what terraform/ holds them at', async () => {
  const variables = await read('terraform/variables.tf');
  const [, packets, percent] =
    /default += \{ relay_packets_per_second = (\d+), transceiver_percent = (\d+) \}/.exec(
      variables,
    )!;
  expect(SCALE).toEqual({
    relay_packets_per_second: Number(packets),
    transceiver_percent: Number(percent),
  });
});

test('docs/capacity-and-cost.md has the figures', async () => {
  const page = await read('docs/capacity-and-cost.md');
  expect(page, 'put in what npm run cost prints').toContain(
    `\`\`\`\n${report(footprint)}\n\`\`\`\n`,
  );
  const words = page.replaceAll(/\s+/g, ' ');
  expect(words).toContain(`holds a relay at ${RELAY_SESSIONS} sessions`);
  expect(words).toContain(`holds a \`c7g.large\` at ${transceiverSessions('c7g.large')} sessions`);
});
