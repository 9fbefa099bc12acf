/** One region of a local run: its process, and what tests and people may do with it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RegionAddresses, RegionDump } from '../origin/one-box.ts';
import type { RegionService } from '../origin/region.ts';
import { REGION_CONFIG_VARIABLE, type RegionConfigInput } from '../origin/region-config.ts';
import type { RelayCounters } from '../origin/relay/relay.ts';
import type { UsedMemory } from '../origin/used-memory.ts';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { RelayAddress } from '../protocol/signature.ts';
import { startChild, type Child, type ChildOptions } from './child.ts';
import { RelayChild, type KilledRelay } from './relay-child.ts';

const MODULE = new URL('../origin/region.ts', import.meta.url);

/** Milliseconds the transceivers of a region have to join the edge's roster. */
const JOIN_TIMEOUT = 20_000;

export interface RegionHandle {
  readonly name: string;
  readonly cluster: number;
  /** Process id. */
  readonly pid: number;
  /** Where clients send to, UDP first. */
  readonly relays: readonly RelayAddress[];
  readonly trunk: TrunkAddress;
  /** Base URL of its signaling, without a final slash. */
  readonly signaling: string;
  /** Base URL of its admin server, without a final slash; a transceiver's is `/transceivers/ID` there. */
  readonly admin: string;
  /** How many transceivers it has. */
  readonly transceivers: number;
  relayCounters(): Promise<RelayCounters>;
  /** The sessions of its transceivers, by transceiver id. */
  dump(): Promise<RegionDump>;
  /** What its process holds. */
  memory(): Promise<UsedMemory>;
  /** The relay loses every flow and counter; its ports stay. */
  restartRelay(): Promise<void>;
  /** Kills the relay's process, and settles once the next one serves. @throws Error when it has none of its own. */
  killRelay(): Promise<KilledRelay>;
}

/** A region's process with its handle. */
export class LocalRegion implements RegionHandle {
  readonly name: string;
  readonly cluster: number;
  readonly pid: number;
  readonly relays: readonly RelayAddress[];
  readonly trunk: TrunkAddress;
  readonly signaling: string;
  readonly admin: string;
  readonly transceivers: number;
  readonly #child: Child<RegionService['answers']>;
  /** Where it is a process of its own. */
  readonly #relay: RelayChild | undefined;

  private constructor(
    config: RegionConfigInput,
    child: Child<RegionService['answers']>,
    addresses: RegionAddresses,
    relay: RelayChild | undefined,
  ) {
    this.name = config.region;
    this.cluster = config.cluster;
    this.transceivers = config.transceivers.length;
    this.pid = child.pid;
    this.relays = [
      ...asRelays('udp', addresses.listeners),
      ...asRelays('tcp', addresses.tcp?.listeners ?? []),
    ];
    this.trunk = addresses.trunk;
    this.signaling = urlOf(addresses.signaling);
    this.admin = urlOf(addresses.admin);
    this.#child = child;
    this.#relay = relay;
  }

  /** @throws Error with the region's own reason when it cannot start. */
  static async start(
    config: RegionConfigInput,
    options: Pick<ChildOptions, 'signal' | 'onLine'> = {},
  ): Promise<LocalRegion> {
    const starting = startChild<RegionService>({
      ...options,
      name: config.region,
      module: MODULE,
      env: { [REGION_CONFIG_VARIABLE]: JSON.stringify(config) },
    });
    const startingRelay =
      config.relayAdmin === undefined ? undefined : RelayChild.start(config, options);
    try {
      const [{ child, ready }, relay] = await Promise.all([starting, startingRelay]);
      return new LocalRegion(config, child, ready, relay);
    } catch (error) {
      await Promise.all([
        starting.then(({ child }) => child.close()).catch(() => undefined),
        startingRelay?.then((relay) => relay.close()).catch(() => undefined),
      ]);
      throw error;
    }
  }

  /** Settles once its transceivers are in the edge's roster. @throws Error when that takes too long. */
  async join(): Promise<void> {
    const timer = new AbortController();
    const late = delay(JOIN_TIMEOUT, true, { signal: timer.signal }).catch(() => false);
    const isLate = await Promise.race([this.#child.ask('join'), late]);
    timer.abort();
    if (isLate === true) {
      throw new Error(`The transceivers of ${this.name} cannot join the edge's roster.`);
    }
  }

  relayCounters(): Promise<RelayCounters> {
    return this.#relay?.counters() ?? this.#child.ask('relayCounters');
  }

  dump(): Promise<RegionDump> {
    return this.#child.ask('dump');
  }

  memory(): Promise<UsedMemory> {
    return this.#child.ask('memory');
  }

  async restartRelay(): Promise<void> {
    await (this.#relay?.kill() ?? this.#child.ask('restartRelay'));
  }

  async killRelay(): Promise<KilledRelay> {
    if (!this.#relay) throw new Error(`The relay of ${this.name} has no process of its own.`);
    return this.#relay.kill();
  }

  onEnd(callback: (how: string) => void): void {
    this.#child.onEnd(callback);
  }

  async close(): Promise<void> {
    await Promise.all([this.#relay?.close(), this.#child.close()]);
  }

  /** A line for people. */
  describe(): string {
    const relays = this.relays.map(candidateOf).join(', ');
    const count = `${this.transceivers} ${this.transceivers === 1 ? 'transceiver' : 'transceivers'}`;
    return `relay ${relays}, signaling ${this.signaling}, ${count}, admin ${this.admin}`;
  }
}

/** A relay's address as candidates are shown, `ADDRESS:PORT/TRANSPORT`. */
export function candidateOf({ address, port, transport }: RelayAddress): string {
  return `${address}:${port}/${transport}`;
}

function urlOf({ address, port }: TrunkAddress): string {
  return `http://${address}:${port}`;
}

function asRelays(
  transport: RelayAddress['transport'],
  addresses: readonly TrunkAddress[],
): RelayAddress[] {
  return addresses.map(({ address, port }) => ({ address, port, transport }));
}
