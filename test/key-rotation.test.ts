/** Every key of the edge replaced in the README's order, tier by tier, by real processes, while calls go on. */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import * as v from 'valibot';
import { startChild } from '../local/child.ts';
import { edgeEnvironment } from '../local/edge-options.ts';
import type { EdgeService } from '../local/edge-process.ts';
import { fragmentOf, withFragment } from '../workers/page/ice-restart.js';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { DEMO_API_KEY, LOCAL_TENANTS } from '../local/tenants.ts';
import { RedisServer } from '../origin/redis/testing/redis-server.ts';
import { RelayProcess, relayConfig } from '../origin/relay/testing/relay-command.ts';
import { OriginProcess } from '../origin/testing/origin-process.ts';
import type { RelayConfigInput } from '../origin/relay-config.ts';
import type { TransceiverConfigInput } from '../origin/transceiver-config.ts';
import {
  libwebrtcClient,
  type LibwebrtcClient,
} from '../origin/transceiver/testing/libwebrtc-client.ts';
import type { SteeringTable, TrunkAddress } from '../protocol/footprint.ts';
import { until } from './support/until.ts';

const TRANSCEIVER_COMMAND = new URL('../origin/transceiver-process.ts', import.meta.url).pathname;
const EDGE_MODULE = new URL('../local/edge-process.ts', import.meta.url);
const WRANGLER_TOML = new URL('../wrangler.toml', import.meta.url).pathname;

const CLUSTER = 1;

/** Milliseconds: it starts a dozen processes, one after another. */
const PATIENCE = 300_000;

/** Audio packets that make a call one that is heard: what was on its way before is far less. */
const PACKETS = 20;

const OLD = newKeys('O');
const NEW = newKeys('N');
type Keys = typeof OLD;

/** What every tier holds, in the README's order; the first key makes, both are understood. */
const STEPS: readonly (readonly Keys[])[] = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]];

function newKeys(id: string) {
  return {
    routing: `${id}:${randomBytes(16).toString('base64')}`,
    signing: randomBytes(32).toString('base64'),
    secrets: `${id}:${randomBytes(32).toString('base64')}`,
  };
}

const textOf = (keys: readonly Keys[], name: keyof Keys) => keys.map((key) => key[name]).join(',');
const at = (port: number): TrunkAddress => ({ address: LOOPBACK, port });

interface TransceiverOf extends Pick<TransceiverConfigInput, 'id' | 'signaling'> {
  readonly process: OriginProcess;
}

async function startTransceiver(
  id: number,
  keys: readonly Keys[],
  edge: string,
  redis: string,
): Promise<TransceiverOf> {
  const ports = await choosePorts({
    trunk: { protocol: 'udp' },
    signaling: { protocol: 'tcp' },
    admin: { protocol: 'tcp' },
  });
  const config = {
    cluster: CLUSTER,
    id,
    trunk: at(ports.trunk!),
    peers: ['127.0.0.0/8'],
    capacity: 10,
    routingKeys: textOf(keys, 'routing'),
    signingKey: textOf(keys, 'signing'),
    signaling: at(ports.signaling!),
    edge,
    admin: at(ports.admin!),
    backend: 'echo',
  } satisfies TransceiverConfigInput;
  const env = { TRANSCEIVER_CONFIG: JSON.stringify(config), REDIS_URL: redis };
  const process = new OriginProcess({ path: TRANSCEIVER_COMMAND, env, admin: config.admin });
  await process.ready();
  return { id, signaling: config.signaling, process };
}

/** @param signaling Of whichever transceiver takes the cluster's requests, and passes them on. */
async function startEdge(
  port: number,
  keys: readonly Keys[],
  relay: TrunkAddress,
  signaling: TrunkAddress,
) {
  const steering: SteeringTable = {
    version: 1,
    clusters: [
      {
        cluster: CLUSTER,
        region: 'eu-central-1',
        state: 'active',
        latitude: 50,
        longitude: 8,
        countries: [],
        continents: [],
        failover: [],
        signaling: `http://${signaling.address}:${signaling.port}`,
        relays: [{ ...relay, transport: 'udp' }],
      },
    ],
  };
  const options = edgeEnvironment({
    configPath: WRANGLER_TOML,
    port,
    secrets: {
      ROUTING_KEYS: textOf(keys, 'routing'),
      SIGNING_KEY: textOf(keys, 'signing'),
      CLIENT_SECRET_KEYS: textOf(keys, 'secrets'),
    },
    steering,
    tenants: LOCAL_TENANTS,
  });
  const { child } = await startChild<EdgeService>({
    name: 'edge',
    module: EDGE_MODULE,
    env: options,
  });
  onTestFinished(() => child.close());
  return child;
}

/** A call of libwebrtc, which speaks and hears itself, with a client secret of its own. */
class HeldCall {
  readonly transceiver: number;
  readonly #client: LibwebrtcClient;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #answer: string;

  private constructor(client: LibwebrtcClient, response: Response, answer: string, secret: string) {
    this.transceiver = Number(/transceiver=(\d+)/.exec(response.headers.get('relay-path')!)?.[1]);
    this.#client = client;
    this.#url = new URL(response.headers.get('location')!, response.url);
    this.#headers = { authorization: secret };
    this.#answer = answer;
  }

  static async place(edge: string): Promise<HeldCall> {
    const secret = `Bearer ${await mintSecret(edge)}`;
    const client = await libwebrtcClient();
    onTestFinished(() => client[Symbol.asyncDispose]());
    const response = await until(async () => {
      const answer = await fetch(`${edge}/v1/calls`, {
        method: 'POST',
        headers: { 'content-type': 'application/sdp', authorization: secret },
        body: client.offer,
      });
      // A transceiver that has just come, or gone, takes a moment to be known by the roster.
      if (answer.status !== 503) return answer;
      await answer.text();
      return false;
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`No call: ${response.status} ${text}`);
    await client.take(text);
    const call = new HeldCall(client, response, text, secret);
    await call.hear();
    return call;
  }

  /** Settles once so many more packets were heard. */
  async hear(): Promise<void> {
    const before = await this.#received();
    await until(async () => (await this.#received()) >= before + PACKETS);
  }

  /** @returns The key id of the ufrag that the client checks with from now on. */
  async restartIce(): Promise<string> {
    const { connection } = this.#client;
    const offer = await connection.createOffer({ iceRestart: true });
    await connection.setLocalDescription(offer);
    const response = await fetch(this.#url, {
      method: 'PATCH',
      headers: {
        ...this.#headers,
        'content-type': 'application/trickle-ice-sdpfrag',
        'if-match': '*',
      },
      body: fragmentOf(offer.sdp),
    });
    const fragment = await response.text();
    if (response.status !== 200) throw new Error(`No restart: ${response.status} ${fragment}`);
    this.#answer = withFragment(this.#answer, fragment);
    await this.#client.take(this.#answer);
    return /a=ice-ufrag:(.)/.exec(fragment)![1]!;
  }

  async end(): Promise<void> {
    const response = await fetch(this.#url, { method: 'DELETE', headers: this.#headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`No end: ${response.status} ${text}`);
  }

  async #received(): Promise<number> {
    const stats = await this.#client.connection.getStats();
    const inbound = [...stats.values()].filter(({ type }) => type === 'inbound-rtp');
    return inbound.reduce((sum, { packetsReceived }) => sum + Number(packetsReceived ?? 0), 0);
  }
}

async function mintSecret(edge: string): Promise<string> {
  const response = await fetch(`${edge}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEMO_API_KEY}` },
  });
  return v.parse(v.object({ value: v.string() }), await response.json()).value;
}

/** What a deployment has, of its only region. */
class Deployment {
  readonly url: string;
  readonly #relayConfig: RelayConfigInput;
  readonly #redis: string;
  #relay: RelayProcess | undefined;
  #edge: Awaited<ReturnType<typeof startEdge>> | undefined;
  #count = 0;

  constructor(edgePort: number, relay: RelayConfigInput, redis: string) {
    this.url = `http://${LOOPBACK}:${edgePort}`;
    this.#relayConfig = relay;
    this.#redis = redis;
  }

  async replaceRelay(keys: readonly Keys[]): Promise<void> {
    await this.#relay?.kill();
    const config = { ...this.#relayConfig, routingKeys: textOf(keys, 'routing') };
    this.#relay = await RelayProcess.started(config, this.#redis);
  }

  addTransceiver(keys: readonly Keys[]): Promise<TransceiverOf> {
    return startTransceiver(++this.#count, keys, this.url, this.#redis);
  }

  /** @param signaling Of whichever transceiver takes the cluster's requests. */
  async replaceEdge(keys: readonly Keys[], signaling: TrunkAddress): Promise<void> {
    await this.#edge?.close();
    const [listener] = this.#relayConfig.relay.listeners;
    this.#edge = await startEdge(Number(new URL(this.url).port), keys, listener!, signaling);
  }
}

/** A tier is a step ahead of the others: the call that is held goes on, and a new one comes and goes. */
async function goesOn(held: HeldCall, url: string): Promise<void> {
  await held.hear();
  await held.restartIce();
  await held.hear();
  const call = await HeldCall.place(url);
  await call.end();
}

test(
  'calls go on, restart ICE and end at every step, and new ones are placed',
  { timeout: PATIENCE },
  async () => {
    const redis = await RedisServer.started();
    const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
    const here = new Deployment(port!, await relayConfig({ cluster: CLUSTER }), redis.url);
    const [first, ...others] = STEPS;
    await here.replaceRelay(first!);
    let transceiver = await here.addTransceiver(first!);
    await here.replaceEdge(first!, transceiver.signaling);
    let held = await HeldCall.place(here.url);

    for (const keys of others) {
      await here.replaceRelay(keys);
      await goesOn(held, here.url);

      const next = await here.addTransceiver(keys);
      transceiver.process.signal('SIGTERM');
      await goesOn(held, here.url);

      await here.replaceEdge(keys, next.signaling);
      await held.hear();
      expect(await held.restartIce()).toBe(keys[0]!.routing[0]);
      await held.hear();
      await held.end();
      // It was the last call of a transceiver that drains.
      expect(await transceiver.process.ended).toBe(0);

      held = await HeldCall.place(here.url);
      expect(held.transceiver).toBe(next.id);
      transceiver = next;
    }
    await held.end();
  },
);
