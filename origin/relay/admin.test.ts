import { expect, test } from 'vitest';
import { MAX_DUMP_FLOWS, adminApp, type RelayState } from './admin.ts';
import { RTP } from './testing/packets.ts';
import {
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';

async function openAdmin(state: RelayState = 'ready') {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const life = { state };
  const app = adminApp({ relay: () => relay, state: () => life.state, config: { cluster: 1 } });
  const metric = async (line: string): Promise<number> => {
    const text = await (await app.request('/metrics')).text();
    const found = text.split('\n').find((one) => one.startsWith(`${line} `));
    if (found === undefined) throw new Error(`There is no ${line} in\n${text}`);
    return Number(found.slice(line.length + 1));
  };
  return { app, relay, life, metric, transceiver: ends(5) };
}

test('a relay is healthy whatever its state, and ready only when clients should come', async () => {
  const { app, life } = await openAdmin('draining');
  const statuses = async (): Promise<number[]> =>
    Promise.all(['/healthz', '/readyz'].map(async (path) => (await app.request(path)).status));
  expect(await statuses()).toEqual([200, 503]);
  life.state = 'ready';
  expect(await statuses()).toEqual([200, 200]);
  life.state = 'draining';
  expect(await (await app.request('/readyz')).json()).toEqual({ status: 'draining' });
});

test('a relay that starts is healthy, says that it starts, and has nothing else to say', async () => {
  const app = adminApp({ relay: () => undefined, state: () => 'starting', config: {} });
  expect((await app.request('/healthz')).status).toBe(200);
  for (const path of ['/readyz', '/metrics', '/dump', '/flows']) {
    const response = await app.request(path);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'starting' });
  }
});

test('metrics show traffic, flows, drops and tokens as they are', async () => {
  const { relay, metric, transceiver } = await openAdmin();
  const client = await openEnd();
  await prove(client, relay, transceiver, ufragFor(1, 5));
  client.send(RTP, relay.listeners[0]!);
  await transceiver.nextFrame();
  client.send(Buffer.of(70), relay.listeners[0]!);

  await eventually(async () => {
    expect(await metric('relay_drops_total{reason="not-media"}')).toBe(1);
  });
  expect(await metric('relay_drops_total{reason="forged"}')).toBe(0);
  const packets = 'relay_packets_total{direction="from_clients"';
  expect(await metric(`${packets},class="stun"}`)).toBe(1);
  expect(await metric(`${packets},class="rtp"}`)).toBe(1);
  expect(await metric(`${packets},class="dtls"}`)).toBe(0);
  expect(await metric(`${packets},class="other"}`)).toBe(1);
  expect(await metric('relay_bytes_total{direction="to_trunk",class="rtp"}')).toBe(RTP.length);
  expect(await metric('relay_packets_total{direction="to_clients",class="stun"}')).toBe(1);
  expect(await metric('relay_flows{state="proven"}')).toBe(1);
  expect(await metric('relay_flow_creations_total{source="stun"}')).toBe(1);
  expect(await metric('relay_token_checks_total{result="ok",key_id="A"}')).toBe(1);
  expect(await metric('relay_batch_packets_count')).toBeGreaterThan(2);
  expect(await metric('relay_batch_packets_bucket{le="+Inf"}')).toBeGreaterThan(2);
  expect(await metric('relay_ready')).toBe(1);
  expect(await metric('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
});

test('a sample of packets is timed', async () => {
  const { relay, metric, transceiver } = await openAdmin();
  const client = await openEnd();
  await prove(client, relay, transceiver, ufragFor(1, 5));
  await eventually(async () => {
    client.send(RTP, relay.listeners[0]!);
    const timed = await metric('relay_forward_latency_seconds_count');
    expect(timed).toBeGreaterThan(0);
    const sum = await metric('relay_forward_latency_seconds_sum');
    expect(sum / timed).toBeGreaterThan(0);
  });
});

test('a scrape can be repeated and adds nothing to counts', async () => {
  const { relay, metric, transceiver } = await openAdmin();
  await prove(await openEnd(), relay, transceiver, ufragFor(1, 5));
  const stun = 'relay_packets_total{direction="from_clients",class="stun"}';
  expect([await metric(stun), await metric(stun)]).toEqual([1, 1]);
});

test('a dump shows configuration, addresses, counters and the flows of a client', async () => {
  const { app, relay, transceiver } = await openAdmin();
  const client = await openEnd();
  await prove(client, relay, transceiver, ufragFor(1, 5));
  const dump = await (await app.request('/dump?client=127.0.0.1')).json();
  expect(dump).toMatchObject({
    state: 'ready',
    config: { cluster: 1 },
    addresses: { listeners: relay.listeners, trunk: relay.trunk },
    counters: { flows: { tentative: 0, proven: 1 } },
    flows: [{ client: `127.0.0.1:${client.address.port}`, transceiver: 5, state: 'proven' }],
  });
  const none = await (await app.request('/dump?client=::1')).json();
  expect(none).toMatchObject({ flows: [] });
});

test.for(['client=localhost', 'client=', 'flows=-1', 'flows=1.5', `flows=${MAX_DUMP_FLOWS + 1}`])(
  'a dump with %s is refused',
  async (query) => {
    const { app } = await openAdmin();
    const response = await app.request(`/dump?${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/^(client|flows) must be/);
  },
);
