/** What Prometheus scrapes of a relay, against the traffic that was sent: over UDP, TCP, and with Redis. */
import { expect, onTestFinished, test } from 'vitest';
import { GuardedRedis } from '../redis/guarded-redis.ts';
import { RedisServer } from '../redis/testing/redis-server.ts';
import { adminApp } from './admin.ts';
import { NO_CLOSES, NO_DROPS } from './drops.ts';
import type { Relay } from './relay.ts';
import { DTLS, RTP, check, success, transactionId } from './testing/packets.ts';
import {
  ANY_PORT,
  HOUR,
  KEY,
  SILENT,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import { TcpEnd } from './testing/tcp-end.ts';

const TRANSCEIVER = 5;

interface Scrape {
  /** `name{labels}` and what stands behind it. */
  readonly values: ReadonlyMap<string, number>;
  /** Of each metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlyMap<string, string>;
}

async function scrape(relay: Relay): Promise<Scrape> {
  const app = adminApp({ relay: () => relay, state: () => 'ready', config: {} });
  const response = await app.request('/metrics');
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  const about = (what: string) =>
    new Map(
      lines
        .filter((line) => line.startsWith(`# ${what} relay_`))
        .map((line): [string, string] => {
          const [, , name = '', ...text] = line.split(' ');
          return [name, text.join(' ')];
        }),
    );
  const values = lines
    .filter((line) => line.startsWith('relay_'))
    .map((line): [string, number] => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    });
  return { values: new Map(values), types: about('TYPE'), helps: about('HELP') };
}

/** A relay on the addresses of another that has ended, whose one flow only Redis knows. */
async function openSuccessor() {
  const server = await RedisServer.started();
  const { transceivers, ends } = await openTransceivers(TRANSCEIVER);
  const openKeeper = (addresses: Partial<Pick<Relay, 'listeners' | 'trunk'>>): Promise<Relay> => {
    const redis = new GuardedRedis({ url: server.url, log: SILENT });
    onTestFinished(() => redis.close());
    const tcp = { listeners: [ANY_PORT], trunk: ANY_PORT };
    // What is not proven stays so, however slow the machine.
    return openRelay({ transceivers, redis, tcp, limits: { tentative: HOUR }, ...addresses });
  };
  const first = await openKeeper({});
  const known = await openEnd();
  await prove(known, first, ends(TRANSCEIVER), ufragFor(1, TRANSCEIVER));
  await eventually(() => expect(first.counters().recovery!.writes.written).toBe(1));
  const { listeners, trunk } = first;
  await first.close();
  const relay = await openKeeper({ listeners, trunk });
  await eventually(() => expect(relay.counters().recovery!.redis.state).toBe('closed'));
  return { relay, known, transceiver: ends(TRANSCEIVER) };
}

/** All kinds of traffic that a relay knows, some of it bad. */
async function sendTraffic() {
  const { relay, known, transceiver } = await openSuccessor();
  const listener = relay.listeners[0]!;
  known.send(RTP, listener);
  await transceiver.nextFrame();

  const client = await openEnd();
  await prove(client, relay, transceiver, ufragFor(1, TRANSCEIVER));
  for (let i = 0; i < 3; i++) {
    client.send(RTP, listener);
    await transceiver.answerNext(({ payload }) => payload);
    await client.next();
  }
  client.send(DTLS, listener);
  await transceiver.nextFrame();

  const overTcp = await TcpEnd.open(relay.tcp!.listeners[0]!);
  const id = transactionId();
  overTcp.send(check(ufragFor(1, TRANSCEIVER), id));
  await transceiver.answerNext(() => success(id));
  await overTcp.next();
  overTcp.send(RTP);
  await transceiver.nextFrame();

  const unanswered = await openEnd();
  unanswered.send(check(ufragFor(1, TRANSCEIVER)), listener);
  await transceiver.nextFrame();
  client.send(Buffer.of(70), listener);
  client.send(check(ufragFor(1, TRANSCEIVER, Date.now() + HOUR, { ...KEY, id: 'Z' })), listener);
  // All but the one over TCP, which is not asked for, and the one that is not proven.
  await eventually(() => {
    const { drops, recovery } = relay.counters();
    expect(drops['unknown-key']).toBe(1);
    expect(recovery!.writes.written).toBeGreaterThanOrEqual(2);
  });
  return relay;
}

/** Series of one metric with a label each, of which all but some are 0. */
function series(name: string, label: string, all: object, some: Record<string, number>) {
  return Object.fromEntries(
    Object.keys(all).map((value) => [`${name}{${label}="${value}"}`, some[value] ?? 0]),
  );
}

function traffic(direction: string, counts: Record<string, number>) {
  return Object.fromEntries(
    ['stun', 'dtls', 'rtp', 'other'].map((kind) => [
      `relay_packets_total{direction="${direction}",class="${kind}"}`,
      counts[kind] ?? 0,
    ]),
  );
}

function bytes(direction: string, kind: string) {
  return `relay_bytes_total{direction="${direction}",class="${kind}"}`;
}

test('a scrape says what the traffic was', async () => {
  const { values } = await scrape(await sendTraffic());

  expect(Object.fromEntries(values)).toMatchObject({
    ...traffic('from_clients', { stun: 4, dtls: 1, rtp: 5, other: 1 }),
    ...traffic('to_trunk', { stun: 3, dtls: 1, rtp: 5 }),
    ...traffic('from_trunk', { stun: 2, rtp: 3 }),
    ...traffic('to_clients', { stun: 2, rtp: 3 }),
    [bytes('from_clients', 'rtp')]: 5 * RTP.length,
    [bytes('to_trunk', 'dtls')]: DTLS.length,
    [bytes('from_trunk', 'stun')]: 2 * success(transactionId()).length,
    [bytes('to_clients', 'rtp')]: 3 * RTP.length,
    ...series('relay_drops_total', 'reason', NO_DROPS, { 'not-media': 1, 'unknown-key': 1 }),
    relay_send_errors_total: 0,
    relay_batch_packets_sum: 16,
    'relay_batch_packets_bucket{le="1"}': expect.any(Number),
    'relay_forward_latency_seconds_bucket{le="0.00001"}': expect.any(Number),
    relay_forward_latency_seconds_count: expect.any(Number),
    'relay_flows{state="tentative"}': 1,
    'relay_flows{state="proven"}': 3,
    'relay_flow_creations_total{source="stun"}': 3,
    'relay_flow_creations_total{source="redis"}': 1,
    'relay_flow_creations_total{source="hand-over"}': 0,
    'relay_flow_ends_total{reason="expired"}': 0,
    'relay_flow_ends_total{reason="evicted"}': 0,
    relay_flow_repointings_total: 0,
    'relay_token_checks_total{result="ok",key_id="A"}': 3,
    'relay_token_checks_total{result="unknown-key",key_id=""}': 1,
    relay_flow_lookups_total: 1,
    relay_held_packets_total: 1,
    relay_released_packets_total: 1,
    'relay_flow_reads_total{result="hits"}': 1,
    'relay_flow_reads_total{result="misses"}': 0,
    'relay_flow_reads_total{result="negative"}': 0,
    'relay_flow_reads_total{result="shed"}': 0,
    'relay_flow_reads_total{result="failed"}': 0,
    'relay_flow_reads_total{result="invalid"}': 0,
    relay_flow_writes_queued: expect.any(Number),
    relay_flow_write_errors_total: 0,
    relay_rebuild_seconds_count: 1,
    'relay_rebuild_seconds_bucket{le="+Inf"}': 1,
    'relay_redis_state{state="closed"}': 1,
    'relay_redis_state{state="away"}': 0,
    'relay_redis_state{state="open"}': 0,
    'relay_redis_state{state="half-open"}': 0,
    'relay_redis_requests_total{result="timeouts"}': 0,
    'relay_redis_requests_total{result="errors"}': 0,
    relay_tcp_connections: 1,
    relay_tcp_accepted_total: 1,
    ...series('relay_tcp_closed_total', 'reason', NO_CLOSES, {}),
    relay_ready: 1,
  });
  expect(values.get('relay_flow_writes_total')).toBeGreaterThanOrEqual(2);
  expect(values.get('relay_rebuild_seconds_sum')).toBeGreaterThan(0);
  expect(values.get('relay_redis_requests_total{result="answered"}')).toBeGreaterThanOrEqual(2);
});

test('metrics are named as Prometheus has it, and each says what it is', async () => {
  const { types, helps } = await scrape(await openRelay());
  for (const [name, type] of types) {
    expect(name).toMatch(/^relay_[a-z_]+$/);
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    expect([name, helps.get(name)]).not.toEqual([name, '']);
  }
  expect(helps.get('relay_flow_creations_total')).toContain('threads share one table');
  expect(types.get('relay_forward_latency_seconds')).toBe('histogram');
});

test('a relay whose Redis is gone says so', async () => {
  const server = await RedisServer.started();
  const redis = new GuardedRedis({ url: server.url, log: SILENT });
  onTestFinished(() => redis.close());
  const relay = await openRelay({ redis });
  const state = async (name: string) =>
    (await scrape(relay)).values.get(`relay_redis_state{state="${name}"}`);
  await eventually(async () => expect(await state('closed')).toBe(1));
  await server.stop();
  await eventually(async () => expect(await state('away')).toBe(1));
  expect(await state('closed')).toBe(0);
});
