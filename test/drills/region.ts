/** A region of a drill as it runs in the cloud: Redis, a relay and transceivers, each a process of its own. */
import { LOOPBACK } from '../../local/ports.ts';
import type { Plan } from '../../local/plan.ts';
import { RedisProcess } from '../../origin/redis/testing/redis-process.ts';
import { RELAY_CONFIG_VARIABLE, type RelayConfigInput } from '../../origin/relay-config.ts';
import { CommandProcess } from '../../origin/testing/command-process.ts';
import {
  TRANSCEIVER_CONFIG_VARIABLE,
  type TransceiverConfigInput,
} from '../../origin/transceiver-config.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { TcpPipe } from '../support/tcp-pipe.ts';
import type { PortOf } from './region-ports.ts';
import { Tunnel } from './tunnel.ts';

const RELAY_COMMAND = new URL('../../origin/relay-process.ts', import.meta.url).pathname;
const TRANSCEIVER_COMMAND = new URL('../../origin/transceiver-process.ts', import.meta.url)
  .pathname;

/** Milliseconds that relays forward on beside their successors; short, for drills wait for their end. */
const DRAIN = { time: 3_000, quiet: 1_000 };

type RegionPlan = Plan['regions'][number];

type RelayConfig = RelayConfigInput & { readonly admin: TrunkAddress };
type TransceiverConfig = TransceiverConfigInput & { readonly admin: TrunkAddress };

export class DrillRegion implements AsyncDisposable {
  readonly name: string;
  readonly cluster: number;
  readonly redis: RedisProcess;
  /** What its transceivers reach the edge's roster through. */
  readonly rosterLink: TcpPipe;
  readonly #plan: RegionPlan;
  readonly #portOf: PortOf;
  readonly #transceiverConfigs: readonly TransceiverConfig[];
  readonly #transceivers = new Map<number, CommandProcess>();
  /** All that were started, the newest last. */
  readonly #relays: CommandProcess[] = [];
  #tunnel: Tunnel | undefined;
  /** Relays that take each other's place have two sets of ports, by turns. */
  #turn = 0;

  private constructor(plan: RegionPlan, portOf: PortOf, rosterLink: TcpPipe) {
    const { region, cluster, peers, routingKeys, signingKey } = plan;
    this.#plan = plan;
    this.#portOf = portOf;
    this.name = region;
    this.cluster = cluster;
    this.redis = new RedisProcess(portOf(region, 'redis'));
    this.rosterLink = rosterLink;
    this.#transceiverConfigs = plan.transceivers.map(({ id, trunk }) => ({
      cluster,
      id,
      trunk,
      peers,
      routingKeys,
      signingKey,
      signaling: this.#at(`transceiver ${id} signaling`),
      edge: `http://${LOOPBACK}:${rosterLink.address.port}`,
      admin: this.#at(`transceiver ${id} admin`),
      backend: 'echo',
      logLevel: 'error',
    }));
  }

  /** Settles once its processes are ready; its transceivers join the edge's roster in their own time. */
  static async start(plan: RegionPlan, portOf: PortOf, edge: TrunkAddress): Promise<DrillRegion> {
    const region = new DrillRegion(plan, portOf, await TcpPipe.open(edge));
    try {
      await region.redis.start();
      const origins = region.#transceiverConfigs.map(({ signaling }) => signaling);
      region.#tunnel = await Tunnel.open(plan.signaling, origins);
      await Promise.all([
        region.startRelay(),
        ...region.ids.map((id) => region.startTransceiver(id)),
      ]);
      return region;
    } catch (error) {
      await region[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Of its transceivers. */
  get ids(): readonly number[] {
    return this.#transceiverConfigs.map(({ id }) => id);
  }

  /** Where clients send UDP to. */
  get listener(): TrunkAddress {
    return this.#plan.relay.listeners[0]!;
  }

  /** Where relays of other regions send to. */
  get trunk(): TrunkAddress {
    return this.#plan.relay.trunk;
  }

  /** The newest one. */
  get relay(): CommandProcess {
    return this.#relays.at(-1)!;
  }

  /** Settles once it is ready. @param routes To the relays of other regions; those of the plan unless given. */
  async startRelay(routes: RelayConfig['routes'] = this.#plan.routes): Promise<void> {
    await this.#spawnRelay({ ...this.#relayConfig(), routes });
  }

  /** Starts one that takes the place of the newest one, which goes on beside it; settles once it is ready. */
  async replaceRelay(): Promise<void> {
    const { address, port } = this.#relayConfig().admin;
    this.#turn++;
    await this.#spawnRelay({
      ...this.#relayConfig(),
      replaces: `http://${address}:${port}`,
    });
  }

  transceiver(id: number): CommandProcess {
    return this.#transceivers.get(id)!;
  }

  /** Settles once it is ready. */
  async startTransceiver(id: number): Promise<void> {
    const config = this.#transceiverConfigs.find((one) => one.id === id)!;
    const text = JSON.stringify(config);
    const env = { [TRANSCEIVER_CONFIG_VARIABLE]: text, REDIS_URL: this.redis.url };
    const { admin } = config;
    const transceiver = new CommandProcess({ path: TRANSCEIVER_COMMAND, env, admin });
    this.#transceivers.set(id, transceiver);
    await transceiver.ready();
  }

  /** All of it at once, without a word to anybody. */
  async kill(): Promise<void> {
    const processes = [...this.#relays, ...this.#transceivers.values()];
    await Promise.all([this.redis.stop(), ...processes.map((process) => process.kill())]);
    await this.#tunnel?.[Symbol.asyncDispose]();
    this.#tunnel = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.rosterLink[Symbol.asyncDispose]();
  }

  /** Of the next relay to start. */
  #relayConfig(): RelayConfig {
    const { cluster, relay, peers, routes, routingKeys } = this.#plan;
    const own = { cluster, peers, routes, routingKeys, drain: DRAIN, logLevel: 'error' } as const;
    if (this.#turn % 2 === 0) return { ...own, relay, admin: this.#at('relay admin') };
    const tcp = { ...relay.tcp!, trunk: this.#at('next relay TCP trunk') };
    return { ...own, relay: { ...relay, tcp }, admin: this.#at('next relay admin') };
  }

  async #spawnRelay(config: RelayConfig): Promise<void> {
    const env = { [RELAY_CONFIG_VARIABLE]: JSON.stringify(config), REDIS_URL: this.redis.url };
    const relay = new CommandProcess({ path: RELAY_COMMAND, env, admin: config.admin });
    this.#relays.push(relay);
    await relay.ready();
  }

  #at(part: string): TrunkAddress {
    return { address: LOOPBACK, port: this.#portOf(this.name, part) };
  }
}
