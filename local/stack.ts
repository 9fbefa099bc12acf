/** The whole system on this machine: the edge in workerd and every region as a process of its own. */
import { fileURLToPath } from 'node:url';
import { readFootprint } from '../origin/footprint-files.ts';
import type { Footprint, SteeringTable } from '../protocol/footprint.ts';
import { startChild } from './child.ts';
import { startControl } from './control/control.ts';
import { copyPage } from './control/page-copy.ts';
import { edgeEnvironment } from './edge-options.ts';
import type { EdgeService } from './edge-process.ts';
import { planStack, type Plan, type PlanOptions } from './plan.ts';
import { LocalRegion, type RegionHandle } from './region-handle.ts';
import { openScratch, type Scratch } from './scratch.ts';
import { DEMO_ADMIN_KEY, LOCAL_TENANTS, sha256 } from './tenants.ts';
import { edgeLost, regionLost } from './trouble.ts';

export type { RegionHandle } from './region-handle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The project's own region files. */
export const REGIONS_DIR = `${ROOT}regions`;
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
  /** TCP port of the edge; a taken one is an error. Chosen like the others unless given. */
  readonly edgePort?: number | undefined;
  /** Where relays listen to clients; loopback unless given, which some clients never send to. */
  readonly relayAddress?: string | undefined;
  /** What speaks in calls; `echo` unless given. */
  readonly backend?: PlanOptions['backend'] | undefined;
  /** Who may call, as workers/tenants.ts reads it; {@link LOCAL_TENANTS} unless given. */
  readonly tenants?: Readonly<Record<string, object>> | undefined;
  /** SHA-256 in hexadecimal of the key of the edge's admin API, of which there is none unless given. */
  readonly adminKeyHash?: string | undefined;
  /** Text of `protocol/routing-keys.ts`; fresh for this run unless given. */
  readonly routingKeys?: string | undefined;
  /**
   * Whether the page may kill relays and drain regions. Relays are processes of their own then, and the admin
   * API has the key that everybody knows.
   */
  readonly control?: boolean;
  /** Least level of what the regions log; `warn` unless given. */
  readonly logLevel?: PlanOptions['logLevel'] | undefined;
  /** Whether the edge's lines of requests go to standard error, too. */
  readonly logRequests?: boolean | undefined;
  /** Kills what has started when it is aborted before the stack is there. */
  readonly signal?: AbortSignal;
  /** Called once per service when it is ready, with a line for people. */
  readonly onReady?: (line: string) => void;
  /** Called with each line of JSON that a region logs; standard error takes them otherwise. */
  readonly onLog?: (line: string) => void;
  /** Called when a service ends by itself, with a line for people. */
  readonly onTrouble?: (line: string) => void;
}

export interface Stack {
  /** Base URL of the edge, without a final slash. */
  readonly edge: string;
  /** Process id of the edge, of which workerd is a child. */
  readonly edgePid: number;
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
  const { onTrouble = ignore, transceivers = {} } = options;
  const footprint = await readFootprint(options.regionsDir ?? REGIONS_DIR);
  requireKnownRegions(footprint, Object.keys(transceivers));
  const plan = await planStack({
    footprint,
    ports: options.ports ?? 'free',
    edgePort: options.edgePort,
    relayAddress: options.relayAddress,
    routingKeys: options.routingKeys,
    backend: options.backend ?? 'echo',
    logLevel: options.logLevel ?? 'warn',
    relaysApart: options.control,
    transceiversOf: (name) => transceivers[name] ?? DEFAULT_TRANSCEIVERS,
  });
  const scratch = await openScratch();
  started.defer(() => scratch.remove());
  const { edge, regions } = await startAll({ plan, footprint, options, started, scratch });

  let closing = false;
  const running = new Set(regions.filter(({ transceivers: count }) => count > 0));
  edge.onEnd((how) => {
    if (!closing) onTrouble(edgeLost(how));
  });
  for (const region of regions) {
    region.onEnd((how) => {
      running.delete(region);
      const left = [...running].map(({ name }) => name);
      if (!closing) onTrouble(regionLost(region.name, how, footprint, left));
    });
  }
  const stack = started.move();
  return {
    edge: edge.url,
    edgePid: edge.pid,
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

interface Start {
  readonly plan: Plan;
  readonly footprint: Footprint;
  readonly options: StackOptions;
  /** Takes what must be closed at the end. */
  readonly started: AsyncDisposableStack;
  readonly scratch: Scratch;
}

/** Starts every process at once. When one fails, the others are killed before the failure is thrown. */
async function startAll({ plan, footprint, options, started, scratch }: Start) {
  const { onReady = ignore, onLog } = options;
  const starting = new AbortController();
  const { signal } = starting;
  const abort = () => starting.abort(new Error('The start was broken off.'));
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted) abort();
  signal.throwIfAborted();

  const ready = (name: string, what: string) => {
    const { state = 'active' } = footprint[name] ?? {};
    const notes = [what, ...(plan.moved[name] ?? [])];
    if (state !== 'active') notes.push(`${state}, so it gets no new calls`);
    onReady(`${name.padEnd(NAME_WIDTH)} ready: ${notes.join('; ')}`);
  };
  const running = new Map<string, LocalRegion>();
  const page = options.control ? await openControl(plan, started, scratch, running) : undefined;
  const startingEdge = startEdge({ plan, options, scratch, signal, page }).then((edge) => {
    ready(edge.name, `${edge.url}, the Worker in workerd`);
    return edge;
  });
  const startingRegions = plan.regions.map(async (config) => {
    const region = await LocalRegion.start(config, { signal, onLine: onLog });
    running.set(region.name, region);
    ready(region.name, region.describe());
    return region;
  });
  const joining = startingRegions.map(async (region) => {
    await startingEdge;
    await (await region).join();
  });
  const services = [startingEdge, ...startingRegions];
  for (const part of [...services, ...joining]) part.catch((error) => starting.abort(error));
  await Promise.allSettled([...services, ...joining]);
  options.signal?.removeEventListener('abort', abort);

  const [edge, ...regions] = services.map((service) => ({
    close: () => service.then((it) => it.close()).catch(ignore),
  }));
  started.defer(() => edge!.close());
  // Regions go before the edge does, so that they leave its roster in order.
  started.defer(async () => void (await Promise.all(regions.map((region) => region.close()))));
  signal.throwIfAborted();
  return { edge: await startingEdge, regions: await Promise.all(startingRegions) };
}

/** @returns The folder of a page that knows the control. */
async function openControl(
  { edgePort, steering }: Plan,
  started: AsyncDisposableStack,
  scratch: Scratch,
  regions: ReadonlyMap<string, LocalRegion>,
): Promise<string> {
  const control = await startControl({
    edgePort,
    regions,
    clusters: new Map(steering.clusters.map(({ region, cluster }) => [region, cluster])),
    adminKey: DEMO_ADMIN_KEY,
  });
  started.defer(() => control.close());
  return copyPage(scratch.path, control.url);
}

interface EdgeStart extends Pick<Start, 'plan' | 'options' | 'scratch'> {
  readonly signal: AbortSignal;
  /** Folder of the page; the project's own when undefined. */
  readonly page: string | undefined;
}

async function startEdge({ plan, options: asked, scratch, signal, page }: EdgeStart) {
  const { tenants = LOCAL_TENANTS, control = false, logRequests } = asked;
  const { adminKeyHash = control ? sha256(DEMO_ADMIN_KEY) : undefined } = asked;
  const options = edgeEnvironment({
    configPath: `${ROOT}wrangler.toml`,
    port: plan.edgePort,
    secrets: {
      ROUTING_KEYS: plan.routingKeys,
      SIGNING_KEY: plan.signingKey,
      CLIENT_SECRET_KEYS: plan.clientSecretKeys,
      ADMIN_KEY_HASH: adminKeyHash,
    },
    page,
    steering: plan.steering,
    tenants,
    logRequests,
  });
  const { child, ready } = await startChild<EdgeService>({
    name: 'edge',
    module: EDGE_MODULE,
    // Workerd's files go where they are removed even after this process was killed.
    env: { ...options, TMPDIR: scratch.path },
    signal,
  });
  return {
    name: 'edge',
    url: ready,
    pid: child.pid,
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
