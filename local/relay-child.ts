/** The relay of a region in a process of its own, which is started again on its ports whenever it ends. */
import { reasonsOf } from '../origin/reasons.ts';
import type { RegionConfigInput } from '../origin/region-config.ts';
import { RELAY_CONFIG_VARIABLE, type RelayConfigInput } from '../origin/relay-config.ts';
import type { RelayCounters } from '../origin/relay/relay.ts';
import { startChild, type Child, type ChildOptions } from './child.ts';
import type { RelayService } from './relay-service.ts';

const MODULE = new URL('relay-service.ts', import.meta.url);

/** How a relay was killed, and another took its place. */
export interface KilledRelay {
  /** Process ids. */
  readonly killed: number;
  readonly started: number;
  /** Milliseconds without a relay. */
  readonly ms: number;
}

type Options = Pick<ChildOptions, 'signal' | 'onLine'>;
type Running = Child<RelayService['answers']>;

export class RelayChild {
  readonly #start: () => Promise<Running>;
  readonly #name: string;
  #running: Promise<Running>;
  #isClosing = false;

  private constructor(name: string, running: Running, start: () => Promise<Running>) {
    this.#name = name;
    this.#start = start;
    this.#running = Promise.resolve(running);
    this.#watch(running);
  }

  /**
   * @param region With ports that are no 0, so that they stay.
   * @throws Error with the relay's own reason when it cannot start.
   */
  static async start(region: RegionConfigInput, { signal, onLine }: Options): Promise<RelayChild> {
    const name = `the relay of ${region.region}`;
    const env = { [RELAY_CONFIG_VARIABLE]: JSON.stringify(configOf(region)) };
    const start = async (): Promise<Running> => {
      const { child } = await startChild<RelayService>({
        name,
        module: MODULE,
        env,
        signal,
        onLine,
      });
      return child;
    };
    return new RelayChild(name, await start(), start);
  }

  /** @throws Error when there is no relay any more. */
  async counters(): Promise<RelayCounters> {
    return (await this.#running).ask('counters');
  }

  /** Kills it without a goodbye. Settles once the next one serves. @throws Error when that cannot start. */
  async kill(): Promise<KilledRelay> {
    const child = await this.#running;
    const at = performance.now();
    const ended = new Promise<void>((resolve) => child.onEnd(() => resolve()));
    child.kill();
    await ended;
    const next = await this.#running;
    return { killed: child.pid, started: next.pid, ms: performance.now() - at };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const child = await this.#running.catch(() => undefined);
    await child?.close();
  }

  #watch(child: Running): void {
    child.onEnd(() => {
      if (this.#isClosing) return;
      this.#running = this.#startAgain();
      // Whoever asks for it is told as well.
      this.#running.catch((error: unknown) => {
        if (this.#isClosing) return;
        console.error(`${this.#name} is gone for good: ${reasonsOf(error)}`);
      });
    });
  }

  async #startAgain(): Promise<Running> {
    const child = await this.#start();
    this.#watch(child);
    return child;
  }
}

function configOf({ relayAdmin, relay, ...region }: RegionConfigInput): RelayConfigInput {
  const { cluster, peers, routes, routingKeys, logLevel } = region;
  const { hostname, port } = new URL(relayAdmin ?? '');
  return {
    cluster,
    relay,
    peers,
    routes,
    routingKeys,
    transceivers: region.transceivers.map(({ id, trunk }) => ({ id, trunk })),
    admin: { address: hostname, port: Number(port) },
    logLevel,
  };
}
