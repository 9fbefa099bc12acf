/** `npm run fuzz -- [--datagrams N] [--seed S]`: fuzzes the relay's forwarding, and tells what came of it. */
import { parseArgs } from 'node:util';
import { fuzzRelay } from './fuzz-relay.ts';

/** Datagrams of one seed; more of them are thrown with the seeds that follow. */
const ROUND = 1_000_000;

const { values } = parseArgs({
  options: {
    datagrams: { type: 'string', default: String(ROUND) },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
});
const [datagrams, first] = [Number(values.datagrams), Number(values.seed)];

if (!(datagrams >= 1) || !Number.isInteger(first)) {
  console.error('Usage: npm run fuzz -- [--datagrams N] [--seed S]');
  process.exitCode = 2;
} else {
  for (let seed = first, left = datagrams; left > 0; seed++) {
    const start = performance.now();
    try {
      const result = fuzzRelay(Math.min(left, ROUND), seed);
      const seconds = (performance.now() - start) / 1000;
      const { toTrunk, toClients, drops, flows, createdFlows, lookups } = result.counters;
      const rate = Math.round(result.datagrams / seconds);
      const summary = { up: toTrunk.packets, down: toClients.packets, ...lookups, ...createdFlows };
      console.log(`seed ${seed}: ${result.datagrams} datagrams, ${rate}/s`, { ...summary, flows });
      console.log(`heap grew by ${result.grown} bytes; drops`, drops);
      left -= result.datagrams;
    } catch (error) {
      console.error(`Seed ${seed} found a fault:`);
      throw error;
    }
  }
}
