/** `npm run fuzz`: fuzzes the relay's forwarding, and tells what came of it. */
import { parseCommandLine, runProgram, wholeNumber } from '../../command-line.ts';
import { fuzzRelay } from './fuzz-relay.ts';

/** Datagrams of one seed; more of them are thrown with the seeds that follow. */
const ROUND = 1_000_000;

const HELP = `Throws made-up datagrams at the relay's forwarding, and tells what came of it.

  npm run fuzz                     throw ${ROUND} datagrams with a new seed
  npm run fuzz -- --datagrams N    throw so many, with the seeds that follow for each ${ROUND}
  npm run fuzz -- --seed S         begin with this seed, a whole number, as that of a failure
  npm run fuzz -- --help           print this`;

interface FuzzOptions {
  readonly datagrams: number;
  readonly first: number;
}

await runProgram(HELP, readOptions, fuzz);

function readOptions(args: readonly string[]): FuzzOptions | undefined {
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      datagrams: { type: 'string', default: String(ROUND) },
      seed: { type: 'string', default: String(Date.now() >>> 0) },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  return {
    datagrams: wholeNumber('datagrams', values.datagrams, 1),
    first: wholeNumber('seed', values.seed, 0),
  };
}

function fuzz({ datagrams, first }: FuzzOptions): void {
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
