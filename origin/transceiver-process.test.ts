/** Transceivers as processes of their own, with a real Redis and real clients. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as v from 'valibot';
import { expect, onTestFinished, test, vi } from 'vitest';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { sign, type Forward } from '../protocol/signature.ts';
import { RedisServer } from './redis/testing/redis-server.ts';
import { OriginProcess } from './testing/origin-process.ts';
import { RelayShim } from './transceiver/testing/relay-shim.ts';
import { until } from './transceiver/testing/until.ts';
import { weriftClient, type WeriftClient } from './transceiver/testing/werift-client.ts';
import type { TransceiverConfigInput } from './transceiver-config.ts';

/** Starting a process takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

const COMMAND = new URL('transceiver-process.ts', import.meta.url).pathname;
const CLUSTER = 3;
const SIGNING_KEY = randomBytes(32);
const ID = 7;
const ROUTING_KEY = Buffer.alloc(16, 1).toString('base64');

const at = (port: number) => ({ address: LOOPBACK, port });

/** On ports that were free a moment ago. */
async function newConfig(
  changes: { id?: number; peers?: string[]; drain?: number; edge?: string } = {},
) {
  const ports = await choosePorts({
    trunk: { protocol: 'udp' },
    signaling: { protocol: 'tcp' },
    admin: { protocol: 'tcp' },
  });
  const config = {
    cluster: CLUSTER,
    id: ID,
    trunk: at(ports.trunk!),
    peers: ['127.0.0.0/8'],
    capacity: 2,
    routingKeys: `A:${ROUTING_KEY}`,
    signingKey: SIGNING_KEY.toString('base64'),
    signaling: at(ports.signaling!),
    edge: 'http://127.0.0.1:9',
    admin: at(ports.admin!),
    ...changes,
  };
  return config satisfies TransceiverConfigInput;
}

type Config = Awaited<ReturnType<typeof newConfig>>;

function spawnWith(config: Config, redisUrl = ''): OriginProcess {
  const env = { TRANSCEIVER_CONFIG: JSON.stringify(config), REDIS_URL: redisUrl };
  return new OriginProcess({ path: COMMAND, env, admin: config.admin });
}

async function start(config: Config, redisUrl?: string): Promise<OriginProcess> {
  const process = spawnWith(config, redisUrl);
  await process.ready();
  return process;
}

async function send(to: Config, claims: Forward, offer?: string): Promise<Response> {
  const path = offer === undefined ? `/v1/sessions/${claims.call}` : '/v1/sessions';
  return fetch(`http://${to.signaling.address}:${to.signaling.port}${path}`, {
    method: offer === undefined ? 'DELETE' : 'POST',
    body: offer ?? null,
    headers: {
      authorization: `Bearer ${sign(SIGNING_KEY, CLUSTER, claims, offer)}`,
      'content-type': 'application/sdp',
    },
  });
}

async function newClient(): Promise<WeriftClient> {
  const client = await weriftClient({ label: 'oai-events' });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

/** @param through Whose signaling is asked; any of the cluster's. */
async function connect(owner: Config, through = owner) {
  const relay = await RelayShim.open(owner.trunk);
  onTestFinished(() => relay.close());
  const client = await newClient();
  const common = {
    requestId: 'r',
    transceiver: owner.id,
    call: randomBytes(16).toString('hex'),
    tenant: 'acme',
  };
  const ufrag = randomBytes(23).toString('hex').slice(0, 23);
  const expiresAt = Date.now() + 600_000;
  const creation = { op: 'create' as const, ...common, ufrag, expiresAt };
  const claims: Forward = { ...creation, relays: [relay.candidate] };
  // A moment passes until the owner has announced itself to others.
  const created = await until(async () => {
    const answer = await send(through, claims, client.offer);
    return answer.status !== 409 && answer;
  });
  expect(created.status).toBe(201);
  await client.take(await created.text());
  await until(() => client.channel.readyState === 'open');
  client.speak(Buffer.from('hello'));
  await until(() => client.audio.length === 1);
  return { client, call: common.call, claims, end: { op: 'end' as const, ...common } };
}

/** The metrics as lines without comments, by name and labels. */
async function metricsOf(process: OriginProcess): Promise<Map<string, number>> {
  const text = await (await process.get('/metrics')).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

test('a call shows in metrics and dumps, live and when it has ended', async () => {
  const config = await newConfig();
  const transceiver = await start(config);
  const { call, end } = await connect(config);

  const live = await metricsOf(transceiver);
  expect(live.get('transceiver_sessions{state="connected"}')).toBe(1);
  expect(live.get('transceiver_sessions_created_total')).toBe(1);
  expect(live.get('transceiver_capacity')).toBe(2);
  expect(live.get('transceiver_draining')).toBe(0);
  const reached = [...live].filter(
    ([name, count]) => name.startsWith('transceiver_setup_seconds_count') && count === 1,
  );
  const stages = reached.map(([name]) => /stage="(\w+)"/.exec(name)![1]!);
  const all = ['first_stun', 'ice', 'dtls', 'sctp', 'first_rtp_in', 'first_rtp_out'];
  expect(new Set(stages)).toEqual(new Set([...all, 'answer', 'first_backend_audio']));
  expect(live.get('transceiver_media_packets_total{result="rtp_in"}')).toBe(1);
  expect(live.get('transceiver_checks_total{result="checks"}')).toBeGreaterThan(0);
  expect(live.get('transceiver_trunk_frames_total{direction="in"}')).toBeGreaterThan(0);
  expect(live.get('transceiver_native_objects{kind="dtls_endpoint"}')).toBe(1);
  for (const refused of ['rtp_refused', 'rtcp_refused']) {
    expect(live.has(`transceiver_media_packets_total{result="${refused}"}`)).toBe(true);
  }
  expect(live.has('transceiver_dtls_drops_total{reason="late_plaintext"}')).toBe(true);
  expect(live.has('nodejs_eventloop_lag_seconds')).toBe(true);

  const one: unknown = await (await transceiver.get(`/dump/${call}`)).json();
  expect(one).toMatchObject({ call, tenant: 'acme', state: 'connected', codec: 'opus' });
  const dump = await (await transceiver.get('/dump')).text();
  expect(JSON.parse(dump)).toMatchObject({
    state: 'ready',
    config: { cluster: CLUSTER, id: ID },
    transceiver: { sessions: [{ call }] },
  });
  expect(dump).not.toContain(config.signingKey);
  expect(dump).not.toContain(ROUTING_KEY);
  expect(await transceiver.status(`/dump/${'0'.repeat(32)}`)).toBe(404);
  expect(await transceiver.status('/dump/x')).toBe(400);

  expect((await send(config, end)).status).toBe(200);
  const after = await metricsOf(transceiver);
  expect(after.get('transceiver_sessions{state="connected"}')).toBe(0);
  expect(after.get('transceiver_sessions_ended_total{reason="deleted"}')).toBe(1);
  expect(after.get('transceiver_native_objects{kind="dtls_endpoint"}')).toBe(0);
  expect(after.get('transceiver_sessions_ended_total{reason="idle"}')).toBe(0);
  expect(after.get('transceiver_session_seconds_count')).toBe(1);
  expect(after.get('transceiver_session_loss_ratio_count{direction="in"}')).toBe(1);
  expect(after.get('transceiver_media_packets_total{result="rtp_in"}')).toBe(1);
  // Names by the rules of Prometheus: a unit or what is counted, in the end.
  const own = [...after.keys()].filter((name) => name.startsWith('transceiver_'));
  for (const name of own)
    expect(name).toMatch(/^[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})?$/);
  const lines = transceiver.output.split('\n').filter((line) => line.includes('"session '));
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ call, transceiver: ID });
});

test('SIGTERM drains: new calls get 503, clients are told, and it ends with 0 when the last has left', async () => {
  const config = await newConfig();
  const transceiver = await start(config);
  const { client, claims, end } = await connect(config);
  transceiver.signal('SIGTERM');
  await until(async () => (await transceiver.status('/readyz')) === 503);
  expect(await transceiver.status('/healthz')).toBe(200);
  await until(() => client.messages.length === 1);
  expect(JSON.parse(String(client.messages[0]))).toMatchObject({ type: 'session.draining' });

  const refused = await send(config, { ...claims, call: 'f'.repeat(32) }, client.offer);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  client.speak(Buffer.from('still here'));
  await until(() => client.audio.length === 2);

  expect((await send(config, end)).status).toBe(200);
  expect(await transceiver.ended).toBe(0);
});

test('a drain that takes too long ends its calls, and a second signal ends it at once', async () => {
  const config = await newConfig({ drain: 500 });
  const transceiver = await start(config);
  const { client } = await connect(config);
  transceiver.signal('SIGTERM');
  expect(await transceiver.ended).toBe(0);
  expect(transceiver.output).toContain('"reason":"drain-deadline"');
  await until(() => client.channel.readyState === 'closed');

  const patient = await newConfig();
  const other = await start(patient);
  await connect(patient);
  other.signal('SIGTERM');
  await until(async () => (await other.status('/readyz')) === 503);
  other.signal('SIGTERM');
  expect(await other.ended).toBe(0);
  expect(other.output).toContain('"reason":"stopped"');
});

test('one that the edge refuses is not ready, and says what to do, until that ends', async () => {
  let status = 404;
  const edge = createServer((_request, response) => response.writeHead(status).end());
  edge.listen(0, LOOPBACK);
  await once(edge, 'listening');
  onTestFinished(() => void edge.close());
  const { port } = v.parse(v.object({ port: v.number() }), edge.address());
  const transceiver = spawnWith(await newConfig({ edge: `http://${LOOPBACK}:${port}` }));
  const answer = async () => (await transceiver.get('/readyz')).json();
  await until(async () => (await transceiver.status('/healthz')) === 200);
  await vi.waitFor(async () => {
    expect(await answer()).toEqual({
      status: 'refused',
      advice: expect.stringContaining('put this cluster into the steering table'),
    });
  }, 30_000);
  expect(await transceiver.status('/readyz')).toBe(503);
  // An edge in trouble is not one that refuses.
  status = 500;
  await transceiver.ready();
});

test('any process of a cluster takes the requests for the calls of all', async () => {
  const redis = await RedisServer.started();
  const first = await newConfig();
  const second = await newConfig({ id: ID + 1 });
  const owner = await start(first, redis.url);
  const stranger = await start(second, redis.url);
  const { call, end, client } = await connect(first, second);
  expect(await owner.status(`/dump/${call}`)).toBe(200);
  expect(await stranger.status(`/dump/${call}`)).toBe(404);
  expect((await send(second, end)).status).toBe(200);
  expect(await owner.status(`/dump/${call}`)).toBe(404);
  await until(() => client.channel.readyState === 'closed');

  await redis.stop();
  // The stranger finds the owner where it was last, and the owner serves all the same.
  await connect(first, second);
  await connect(first);
});

test('says what is wrong with its configuration and ends with 2; a taken port ends it with 1', async () => {
  const config = await newConfig({ peers: ['here'] });
  const refused = spawnWith(config);
  expect(await refused.ended).toBe(2);
  expect(refused.output).toContain('peers.0: is not a network');
  const good = await newConfig();
  await start(good);
  const taken = spawnWith({ ...good, admin: at(0) });
  expect(await taken.ended).toBe(1);
  expect(taken.output).toMatch(/Cannot bind UDP .* another process has it/);
});
