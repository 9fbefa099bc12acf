/** The whole system on this machine: the edge in workerd and every region as a process of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readFootprint } from '../origin/footprint-files.ts';
import type { RegionDump } from '../origin/one-box.ts';
import type { RegionConfigInput } from '../origin/region-config.ts';
import type { RelayCounters } from '../origin/relay/counters.ts';
import type { Footprint, SteeringTable, TrunkAddress } from '../protocol/footprint.ts';
import { startEdge } from './edge.ts';
import { planStack } from './plan.ts';
import { RegionProcess } from './region-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Transceivers of a region unless told otherwise. */
const DEFAULT_TRANSCEIVERS = 2;

/** Milliseconds the transceivers of a region have to join the edge's roster. */
const JOIN_TIMEOUT = 10_000;

export interface StackOptions {
  /** The documented ports where they are free, or free ones everywhere, which is the default. */
  readonly ports?: 'usual' | 'free';
  /** Transceivers by region; 2 where not given, and 0 leaves a region with a relay alone. */
  readonly transceivers?: Partial<Record<string, number>>;
  /** Folder of region files; the project's own unless given. */
  readonly regionsDir?: string;
  /** Called once per service when it is ready, with a line for people. */
  readonly onReady?: (line: string) => void;
  /** Called with what goes wrong later: what the edge logs, or a region that ends by itself. */
  readonly onTrouble?: (line: string) => void;
}

export interface RegionHandle {
  readonly name: string;
  readonly cluster: number;
  /** Process id. */
  readonly pid: number;
  /** Public UDP sockets. */
  readonly relays: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  /** Base URL of its signaling, without a final slash. */
  readonly signaling: string;
  relayCounters(): Promise<RelayCounters>;
  /** The sessions of its transceivers, by transceiver id. */
  dump(): Promise<RegionDump>;
  /** The relay loses every flow and counter; its ports stay. */
  restartRelay(): Promise<void>;
}

export interface Stack {
  /** Base URL of the edge, without a final slash. */
  readonly edge: string;
  readonly footprint: Footprint;
  readonly regions: ReadonlyMap<string, RegionHandle>;
  /** The edge's table at the start. */
  readonly steering: SteeringTable;
  /** The keys of this run, as text of `protocol/routing-keys.ts`. */
  readonly routingKeys: string;
  /** The key of this run, as base64 text of `protocol/signature.ts`. */
  readonly signingKey: string;
  /** Puts another table before the edge. */
  steer(table: SteeringTable): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error with the reason when any part cannot start; nothing stays behind then. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  await using started = new AsyncDisposableStack();
  const { onReady = ignore, onTrouble = ignore, transceivers = {} } = options;
  const footprint = await readFootprint(options.regionsDir ?? `${ROOT}regions`);
  requireKnownRegions(footprint, Object.keys(transceivers));
  const plan = await planStack({
    footprint,
    ports: options.ports ?? 'free',
    transceiversOf: (name) => transceivers[name] ?? DEFAULT_TRANSCEIVERS,
  });

  const startingRegions = plan.regions.map((config) => RegionProcess.start(config));
  const startingEdge = startEdge({
    configPath: `${ROOT}wrangler.toml`,
    port: plan.edgePort,
    secrets: { ROUTING_KEYS: plan.routingKeys, SIGNING_KEY: plan.signingKey },
    steering: plan.steering,
    onLog: (line) => onTrouble(`edge: ${line}`),
  });
  const results = await Promise.allSettled([startingEdge, ...startingRegions]);
  for (const result of results) {
    if (result.status === 'fulfilled') started.defer(() => result.value.close());
  }
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
  const edge = await startingEdge;
  const processes = await Promise.all(startingRegions);

  onReady(readyLine('edge', `${edge.url}, the Worker in workerd`));
  const regions = new Map<string, RegionHandle>();
  for (const [i, region] of processes.entries()) {
    await withinJoinTimeout(region.join(), region.name);
    regions.set(region.name, handleOf(region, plan.regions[i]!));
    onReady(readyLine(region.name, describe(plan.regions[i]!)));
  }

  let closing = false;
  for (const region of processes) {
    region.onEnd((how) => {
      if (!closing) onTrouble(`${region.name}: its process ended ${how}`);
    });
  }
  const stack = started.move();
  return {
    edge: edge.url,
    footprint,
    regions,
    steering: plan.steering,
    routingKeys: plan.routingKeys,
    signingKey: plan.signingKey,
    steer: (table) => edge.steer(table),
    close: () => {
      closing = true;
      return stack.disposeAsync();
    },
  };
}

function requireKnownRegions(footprint: Footprint, names: readonly string[]): void {
  for (const name of names) {
    if (!(name in footprint)) throw new Error(`There is no region ${name} to give transceivers.`);
  }
}

async function withinJoinTimeout(joining: Promise<void>, region: string): Promise<void> {
  const timer = new AbortController();
  const timeout = delay(JOIN_TIMEOUT, undefined, { signal: timer.signal }).then(
    () => Promise.reject(new Error(`The transceivers of ${region} cannot join the edge's roster.`)),
    () => undefined,
  );
  await Promise.race([joining, timeout]);
  timer.abort();
}

function handleOf(region: RegionProcess, config: RegionConfigInput): RegionHandle {
  const { listeners, trunk, signaling } = region.addresses;
  return {
    name: region.name,
    cluster: config.cluster,
    pid: region.pid,
    relays: listeners,
    trunk,
    signaling: `http://${signaling.address}:${signaling.port}`,
    relayCounters: () => region.relayCounters(),
    dump: () => region.dump(),
    restartRelay: () => region.restartRelay(),
  };
}

function describe({ relay, signaling, transceivers }: RegionConfigInput): string {
  const listeners = relay.listeners.map(({ address, port }) => `${address}:${port}`).join(', ');
  const count = `${transceivers.length} ${transceivers.length === 1 ? 'transceiver' : 'transceivers'}`;
  return `relay ${listeners}/udp, signaling ${signaling.port}/tcp, ${count}`;
}

function readyLine(service: string, what: string): string {
  return `${service.padEnd(16)} ready: ${what}`;
}

function ignore(): void {}
