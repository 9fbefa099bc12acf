/** The whole system on this machine: the edge in workerd and every region as a process of its own. */
import { fileURLToPath } from 'node:url';
import { readFootprint } from '../origin/footprint-files.ts';
import type { Footprint, SteeringTable } from '../protocol/footprint.ts';
import { startChild } from './child.ts';
import { edgeEnvironment } from './edge-options.ts';
import type { EdgeService } from './edge-process.ts';
import { planStack, type Plan } from './plan.ts';
import { LocalRegion, type RegionHandle } from './region-handle.ts';

export type { RegionHandle } from './region-handle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EDGE_MODULE = new URL('edge-process.ts', import.meta.url);

/** Transceivers of a region unless told otherwise. */
const DEFAULT_TRANSCEIVERS = 2;

/** Width of the column of service names. */
const NAME_WIDTH = 16;

export interface StackOptions {
  /** The documented ports where they are free, or free ones everywhere, which is the default. */
  readonly ports?: 'usual' | 'free';
  /** Transceivers by region; 2 where not given, and 0 leaves a region with a relay alone. */
  readonly transceivers?: Partial<Record<string, number>>;
  /** Folder of region files; the project's own unless given. */
  readonly regionsDir?: string;
  /** Called once per service when it is ready, with a line for people. */
  readonly onReady?: (line: string) => void;
  /** Called when a service ends by itself, with a line for people. */
  readonly onTrouble?: (line: string) => void;
}

export interface Stack {
  /** Base URL of the edge, without a final slash. */
  readonly edge: string;
  readonly footprint: Footprint;
  /** In the order of region ids. */
  readonly regions: ReadonlyMap<string, RegionHandle>;
  /** The edge's table at the start. */
  readonly steering: SteeringTable;
  /** The keys of this run, as text of `protocol/routing-keys.ts`. */
  readonly routingKeys: string;
  /** The key of this run, as base64 text of `protocol/signature.ts`. */
  readonly signingKey: string;
  /** Puts another table before the edge, which takes it up once its copy is old. */
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

  const ready = (name: string, what: string) =>
    onReady(`${name.padEnd(NAME_WIDTH)} ready: ${what}`);
  const { edge, regions } = await startAll(plan, started);
  ready('edge', `${edge.url}, the Worker in workerd`);
  for (const region of regions) {
    await region.join();
    ready(region.name, region.describe());
  }

  let closing = false;
  for (const service of [edge, ...regions]) {
    service.onEnd((how) => {
      if (!closing) onTrouble(`${service.name}: its process has ended ${how}`);
    });
  }
  const stack = started.move();
  return {
    edge: edge.url,
    footprint,
    regions: new Map(regions.map((region) => [region.name, region])),
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

/** Starts every process at once. When one fails, the others are ended before the failure is thrown. */
async function startAll(plan: Plan, started: AsyncDisposableStack) {
  const startingEdge = startEdge(plan);
  const startingRegions = plan.regions.map((config) => LocalRegion.start(config));
  const results = await Promise.allSettled([startingEdge, ...startingRegions]);
  const [edge, ...regions] = results.map((result) => ({
    close: async () => (result.status === 'fulfilled' ? result.value.close() : undefined),
  }));
  started.defer(() => edge!.close());
  // Regions go before the edge does, so that they leave its roster in order.
  started.defer(async () => void (await Promise.all(regions.map((region) => region.close()))));
  return { edge: await startingEdge, regions: await Promise.all(startingRegions) };
}

async function startEdge(plan: Plan) {
  const { child, ready } = await startChild<EdgeService>({
    name: 'edge',
    module: EDGE_MODULE,
    env: edgeEnvironment({
      configPath: `${ROOT}wrangler.toml`,
      port: plan.edgePort,
      secrets: { ROUTING_KEYS: plan.routingKeys, SIGNING_KEY: plan.signingKey },
      steering: plan.steering,
    }),
  });
  return {
    name: 'edge',
    url: ready,
    steer: (table: SteeringTable) => child.ask('steer', table),
    onEnd: (callback: (how: string) => void) => child.onEnd(callback),
    close: () => child.close(),
  };
}

function requireKnownRegions(footprint: Footprint, names: readonly string[]): void {
  for (const name of names) {
    if (!(name in footprint)) throw new Error(`There is no region ${name} to give transceivers.`);
  }
}

function ignore(): void {}
