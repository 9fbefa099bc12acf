/** `npm run bench -- transceiver`: what a session costs, beside werift's own peer connection in one run. */
import { churn } from './churn.ts';
import { memoryCost, setupCost, talkingCost } from './cost.ts';
import { roundTrips } from './round-trips.ts';

export interface TransceiverBenchOptions {
  /** Times that the two are measured, in turn. */
  readonly rounds: number;
  /** Of one measurement of talking. */
  readonly seconds: number;
  readonly log: (line: string) => void;
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly met: boolean;
}

/** About what a processor is to carry: a process that is mostly idle wakes for every single packet. */
const TALKING = 240;
const SETUPS = 200;
const STILL = 300;
const CHURNED = 500;
const CHURN_ROUNDS = 20;

/** As near to what a processor carries of stock peer connections, which are slow. */
const STOCK_TALKING = 50;
const STOCK_SETUPS = 40;

/** Round trips that are 2 as far as a timer of milliseconds can tell. */
const TWO = 2.1;

/** Bytes that a heap may grow per session without it being a leak: less than any object a session has. */
const NO_LEAK = 64;
/** The allocator's fragments come on top in resident memory. */
const NO_RESIDENT_LEAK = 2_048;

export async function benchTransceiver({ rounds, seconds, log }: TransceiverBenchOptions) {
  const figures = new Map<string, unknown>();
  const keep = <T>(name: string, figure: T): T => {
    figures.set(name, figure);
    log(`${name}: ${JSON.stringify(figure, rounded)}`);
    return figure;
  };
  const ratios: number[] = [];
  const perCore: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const stock = await talkingCost('stock', STOCK_TALKING, seconds);
    keep(`talking, stock, round ${round}`, stock);
    const own = keep(`talking, round ${round}`, await talkingCost('own', TALKING, seconds));
    ratios.push(stock.perPair / own.perPair);
    perCore.push(own.sessionsPerCore);
  }
  keep('setup CPU in ms, stock', await setupCost('stock', STOCK_SETUPS, 'passive'));
  const asClient = keep('setup CPU in ms, DTLS client', await setupCost('own', SETUPS, 'passive'));
  const asServer = keep('setup CPU in ms, DTLS server', await setupCost('own', SETUPS, 'active'));
  keep('bytes per session', await memoryCost('own', STILL));
  const trips = keep('round trips, DTLS client', await roundTrips('passive'));
  const others = keep('round trips, DTLS server', await roundTrips('active'));
  const churned = keep('churn', await churn(CHURNED, CHURN_ROUNDS));

  const bars = [
    atLeast('sessions per core, × stock', median(ratios), 5),
    atLeast('sessions per core', median(perCore), 250),
    atMost('setup CPU in ms', Math.max(asClient, asServer), 3),
    atMost('round trips, better role', Math.min(trips.slope, others.slope), TWO),
    atMost('left after churn', churned.left, 0),
    atMost('heap growth per session', churned.heapPerSession, NO_LEAK),
    atMost('resident growth per session', churned.residentPerSession, NO_RESIDENT_LEAK),
  ];
  return { figures: Object.fromEntries(figures), bars };
}

/** One line for a bar, with what was reached. */
export function barLine({ name, value, met, atLeast: least, atMost: most }: Bar): string {
  const limit = least === undefined ? `≤ ${most}` : `≥ ${least}`;
  return `${met ? 'ok  ' : 'MISS'} ${name.padEnd(36)} ${limit.padEnd(10)} ${value.toPrecision(3)}`;
}

export function atLeast(name: string, value: number, limit: number): Bar {
  return { name, value, atLeast: limit, met: value >= limit };
}

export function atMost(name: string, value: number, limit: number): Bar {
  return { name, value, atMost: limit, met: value <= limit };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** Four digits are more than a measurement is worth. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
