/** Many flows at once through one relay, each of a client with a token of its own, until all have gone. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild, type Child } from '../../local/child.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { compile } from '../relay/build.ts';
import { cpuTime } from '../relay/process-facts.ts';
import { freePorts, type Ports } from '../relay/subjects.ts';
import { atMost, type Bar } from '../transceiver/bench.ts';
import {
  CLUSTER,
  FLOW_RELAY_VARIABLE,
  TRANSCEIVER,
  type FlowRelayOptions,
} from './relay-options.ts';
import type { FlowRelayService } from './relay-process.ts';

/** Times that all flows come and go: what a relay keeps for good it has after the first. */
const ROUNDS = 2;

/** Before them. */
const WARM_UP = { flows: 1000, seconds: 2 };

/** Milliseconds for which the tokens are good. */
const TOKEN_LIFETIME = 24 * 3_600_000;

/** Milliseconds beyond their time to live that flows may take to go, and between two looks. */
const PATIENCE = 60_000;
const POLL = 100;

/** Milliseconds between two lines that tell how it goes. */
const PROGRESS = 30_000;

/** Flows whose memory can be told from what the process takes for itself. */
const LEAST_FLOWS = 50_000;

/** Bytes of resident memory for a flow: 240 of the table at most, and whole pages of it. */
const BYTES_PER_FLOW = 400;

/** Megabytes that the relay may hold more after the last round than after the first: less than its flows take. */
const GROWTH_MB = 8;

type FlowRelay = Child<FlowRelayService['answers']>;

export interface FlowsOptions {
  readonly flows: number;
  /** Packets a second there, and as many back. */
  readonly rate: number;
  readonly seconds: number;
  /** Milliseconds without a packet after which the relay forgets a flow. */
  readonly idle: number;
  readonly log: (line: string) => void;
}

/** What the load saw. */
interface LoadResult {
  readonly seconds: number;
  readonly proven: number;
  readonly sent: number;
  readonly up: number;
  readonly down: number;
  /** Packets that came to a client and were not its own. */
  readonly strays: number;
}

export interface FlowsRound extends LoadResult {
  /** Flows that the relay held at once, and those left when they had to be gone. */
  readonly held: number;
  readonly left: number;
  /** Seconds from the last packet until all were gone. */
  readonly goneAfter: number;
  /** Packets that the relay dropped, by reason; none that is 0. */
  readonly drops: Readonly<Record<string, number>>;
  /** Share of a processor that the relay used while packets came. */
  readonly cores: number;
  /** Megabytes of resident memory before, with all flows, and after. */
  readonly residentMB: { readonly before: number; readonly full: number; readonly after: number };
}

export interface FlowsFigures {
  readonly flows: number;
  readonly rounds: readonly FlowsRound[];
  /** Resident memory of the first round's flows. */
  readonly bytesPerFlow: number;
  /** From after the first round to after the last. */
  readonly grownMB: number;
}

export async function loadFlows(options: FlowsOptions) {
  const { flows, idle, log } = options;
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), 'load-'))).path;
  const [program, ufrags] = [join(folder, 'flows'), join(folder, 'ufrags')];
  await compile(join(import.meta.dirname, 'flows.c'), program);
  const routingKeys = `A:${randomBytes(16).toString('base64')}`;
  await writeFile(ufrags, tokens(routingKeys, Math.max(flows, WARM_UP.flows)));
  const ports = await freePorts();
  const relay = await startFlowRelay(ports, routingKeys, idle);
  opened.defer(() => relay.close());
  const told = setInterval(() => void tell(relay, log), PROGRESS);
  opened.defer(() => clearInterval(told));

  // A relay that has not forwarded yet grows by its code and heaps, too.
  await runRound(relay, [program, ufrags], ports, { ...options, ...WARM_UP });
  const rounds: FlowsRound[] = [];
  while (rounds.length < ROUNDS) {
    const round = await runRound(relay, [program, ufrags], ports, options);
    rounds.push(round);
    const { held, sent, down, left, goneAfter } = round;
    log(
      `${held} flows, ${sent} packets there and ${down} back, ${left} flows left after ` +
        `${goneAfter.toFixed(0)} s; ${JSON.stringify(round.residentMB)} MB`,
    );
  }
  const [first, last] = [rounds[0]!.residentMB, rounds.at(-1)!.residentMB];
  const figures: FlowsFigures = {
    flows,
    rounds,
    bytesPerFlow: ((first.full - first.before) * 1e6) / flows,
    grownMB: last.after - first.after,
  };
  return { figures, bars: barsOf(figures) };
}

function barsOf({ flows, rounds, bytesPerFlow, grownMB }: FlowsFigures): Bar[] {
  const worst = (of: (round: FlowsRound) => number) => Math.max(...rounds.map(of));
  const bars = [
    atMost(
      'flows not held at once',
      worst(({ held }) => flows - held),
      0,
    ),
    atMost(
      'packets lost on the way there',
      worst(({ sent, up }) => sent - up),
      0,
    ),
    atMost(
      'packets lost there and back',
      worst(({ sent, down }) => sent - down),
      0,
    ),
    atMost(
      'packets to the wrong client',
      worst(({ strays }) => strays),
      0,
    ),
    atMost(
      'flows left after their time',
      worst(({ left }) => left),
      0,
    ),
  ];
  if (flows < LEAST_FLOWS) return bars;
  return [
    ...bars,
    atMost('resident bytes of a flow', bytesPerFlow, BYTES_PER_FLOW),
    atMost('MB grown from round to round', grownMB, GROWTH_MB),
  ];
}

function at(port: number): TrunkAddress {
  return { address: '127.0.0.1', port };
}

async function startFlowRelay(ports: Ports, routingKeys: string, idle: number) {
  const options: FlowRelayOptions = {
    listener: at(ports.relay),
    trunk: at(ports.trunk),
    transceiver: at(ports.transceiver),
    routingKeys,
    idle,
  };
  const { child } = await startChild<FlowRelayService>({
    name: 'relay',
    module: new URL('relay-process.ts', import.meta.url),
    env: { [FLOW_RELAY_VARIABLE]: JSON.stringify(options) },
  });
  return child;
}

async function runRound(
  relay: FlowRelay,
  [program, ufrags]: readonly [string, string],
  ports: Ports,
  { flows, rate, seconds, idle }: FlowsOptions,
): Promise<FlowsRound> {
  const before = await residentMB(relay);
  const dropsBefore: Readonly<Record<string, number>> = (await relay.ask('counters')).drops;
  const args = [ports.relay, ports.transceiver].map(String);
  const options = Object.entries({ flows, rate, seconds }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const load = spawn(program, [...args, ufrags, ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(load.stdout)[Symbol.asyncIterator]();
  try {
    if ((await lines.next()).value !== 'ready') throw new Error('Not all flows got through.');
    const { flows: held } = await relay.ask('counters');
    const full = await residentMB(relay);
    const [cpu, start] = [await cpuTime(relay.pid), performance.now()];
    load.stdin.end('go\n');
    const result: LoadResult = JSON.parse((await lines.next()).value ?? '');
    const cores = ((await cpuTime(relay.pid)) - cpu) / 1000 / (performance.now() - start);
    const { left, goneAfter } = await untilGone(relay, idle);
    const { drops } = await relay.ask('counters');
    return {
      ...result,
      held: held.proven,
      left,
      goneAfter,
      drops: Object.fromEntries(
        Object.entries(drops).flatMap(([reason, count]) => {
          const more = count - (dropsBefore[reason] ?? 0);
          return more > 0 ? [[reason, more]] : [];
        }),
      ),
      cores,
      residentMB: { before, full, after: await residentMB(relay) },
    };
  } finally {
    load.kill();
  }
}

async function tell(relay: FlowRelay, log: (line: string) => void): Promise<void> {
  const { flows, fromClients, toClients } = await relay.ask('counters');
  log(
    `${flows.proven} flows; ${fromClients.packets} packets of clients so far, ${toClients.packets} to them`,
  );
}

async function untilGone(relay: FlowRelay, idle: number) {
  const start = performance.now();
  for (;;) {
    const { flows } = await relay.ask('counters');
    const left = flows.proven + flows.tentative;
    const passed = performance.now() - start;
    if (left === 0 || passed > idle + PATIENCE) return { left, goneAfter: passed / 1000 };
    await delay(POLL);
  }
}

async function residentMB(relay: FlowRelay): Promise<number> {
  const { resident } = await relay.ask('memory');
  return Math.round(resident / 1e5) / 10;
}

function tokens(routingKeys: string, count: number): string {
  const codec = new UfragCodec(parseRoutingKeys(routingKeys));
  const expiresAt = Date.now() + TOKEN_LIFETIME;
  const route = { cluster: CLUSTER, transceiver: TRANSCEIVER, expiresAt };
  return Array.from({ length: count }, () => `${codec.seal(route)}\n`).join('');
}
