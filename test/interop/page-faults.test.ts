/** The page's buttons in Firefox: each breaks something, and packets go on both ways. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { inNamespace } from './namespace.ts';

const SeenSchema = v.object({
  log: v.array(v.string()),
  complaints: v.array(v.string()),
  transports: v.array(v.string()),
  map: v.array(v.string()),
});

// Only Linux has network namespaces.
test.skipIf(process.platform !== 'linux')(
  'a call survives a killed relay, TCP, a drain and a restart of ICE',
  async () => {
    const seen = v.parse(SeenSchema, JSON.parse(await inNamespace('faults-scene.ts')));
    expect(seen.transports).toEqual(['tcp', 'udp']);
    expect(seen.map[1]).toContain('to the relay in us-east-1 and over the trunk to eu-central-1');
    expect(seen.log.join('\n')).toMatch(/process \d+ is dead; \d+ took its place after/);
    expect(seen.complaints).toEqual([]);
  },
);
