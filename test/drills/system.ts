/** The system that a drill does harm to: the edge and two regions, with a process for each part. */
import { setTimeout as delay } from 'node:timers/promises';
import { readFootprint } from '../../origin/footprint-files.ts';
import type { Footprint } from '../../protocol/footprint.ts';
import { planStack } from '../../local/plan.ts';
import { LOOPBACK } from '../../local/ports.ts';
import { REGIONS_DIR } from '../../local/stack.ts';
import { DrillEdge, type EdgeStart } from './edge.ts';
import { chooseRegionPorts, type PortOf } from './region-ports.ts';
import { DrillRegion } from './region.ts';

/** The regions of every drill: each takes over for the other. */
export const HOME = 'eu-central-1';
export const ELSEWHERE = 'us-east-1';

/** Of each region unless told otherwise. */
const TRANSCEIVERS = 2;

/** Milliseconds between two looks at the rosters. */
const LOOK = 100;

export interface SystemOptions extends EdgeStart {
  /** By region. */
  readonly transceivers?: Readonly<Record<string, number>> | undefined;
}

export class System implements AsyncDisposable {
  readonly footprint: Footprint;
  readonly edge: DrillEdge;
  readonly portOf: PortOf;
  readonly #regions: ReadonlyMap<string, DrillRegion>;
  readonly #props: AsyncDisposableStack;

  private constructor(
    footprint: Footprint,
    edge: DrillEdge,
    portOf: PortOf,
    regions: readonly DrillRegion[],
    props: AsyncDisposableStack,
  ) {
    this.footprint = footprint;
    this.edge = edge;
    this.portOf = portOf;
    this.#regions = new Map(regions.map((region) => [region.name, region]));
    this.#props = props;
  }

  /** @throws Error when a part cannot start; nothing stays behind then. */
  static async start({ signal, log, transceivers = {} }: SystemOptions): Promise<System> {
    await using props = new AsyncDisposableStack();
    const all = await readFootprint(REGIONS_DIR);
    const footprint = { [HOME]: all[HOME]!, [ELSEWHERE]: all[ELSEWHERE]! };
    const plan = await planStack({
      footprint,
      ports: 'free',
      backend: 'echo',
      logLevel: 'error',
      transceiversOf: (name) => transceivers[name] ?? TRANSCEIVERS,
    });
    const portOf = await chooseRegionPorts(plan);
    const edge = { address: LOOPBACK, port: plan.edgePort };
    const starting = [
      DrillEdge.start(plan, { signal, log }).then((it) => props.use(it)),
      ...plan.regions.map(async (region) => {
        return props.use(await DrillRegion.start(region, portOf, edge));
      }),
    ] as const;
    // What starts while another part fails must be there to be ended.
    await Promise.allSettled(starting);
    const [started, ...regions] = await Promise.all(starting);
    const system = new System(footprint, started, portOf, regions, props.move());
    await system.untilJoined(signal);
    log('the edge and two regions are ready');
    return system;
  }
  region(name: string): DrillRegion {
    return this.#regions.get(name)!;
  }

  /** Settles once calls can go to every transceiver. It has no limit of its own. */
  async untilJoined(signal: AbortSignal): Promise<void> {
    while (!(await this.isWhole())) await delay(LOOK, undefined, { signal });
  }

  /** Whether the edge knows every transceiver, and that it takes calls. */
  async isWhole(): Promise<boolean> {
    const rosters = await this.edge.rosters();
    return [...this.#regions.values()].every(({ name, ids }) => {
      return ids.every((id) => rosters[name]?.includes(id));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#props.disposeAsync();
  }
}
