import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { createTestHarness } from 'wrangler';
import { ROSTER_DEAD, ROSTER_HEARTBEAT, type TransceiverReport } from '../protocol/roster.ts';
import { startRosterLink, type RosterLink } from './roster-link.ts';

const SIGNING_KEY = Buffer.alloc(32, 'link');
const ROUTING_KEYS = `L:${Buffer.alloc(16, 'link').toString('base64')}`;
const CLUSTER = 2;
const PING = Buffer.from('ping');
const WAIT = { timeout: 15_000, interval: 20 };

/** The real Worker in workerd, with a footprint of one cluster. */
const edge = createTestHarness({
  workers: [
    {
      configPath: new URL('../wrangler.toml', import.meta.url),
      secrets: { ROUTING_KEYS, SIGNING_KEY: SIGNING_KEY.toString('base64') },
    },
  ],
});
let url: string;
const links: RosterLink[] = [];

interface EdgeBindings {
  FOOTPRINT: { put(key: string, value: string): Promise<void> };
  ROSTER: { getByName(name: string): { snapshot(): Promise<TransceiverReport[]> } };
}

const bindings = () => edge.getWorker<EdgeBindings>().getEnv();
const roster = async () => (await bindings()).ROSTER.getByName(String(CLUSTER)).snapshot();

beforeAll(async () => {
  url = (await edge.listen()).url.origin;
  const cluster = {
    cluster: CLUSTER,
    region: 'eu-central-1',
    state: 'active',
    latitude: 50,
    longitude: 8,
    countries: [],
    continents: [],
    failover: [],
    signaling: 'http://127.0.0.1:9',
    relays: [{ address: '127.0.0.1', port: 3478, transport: 'udp' }],
  };
  const table = JSON.stringify({ version: 1, clusters: [cluster] });
  await (await bindings()).FOOTPRINT.put('steering', table);
}, 60_000);
afterEach(() => Promise.all(links.splice(0).map((link) => link.close())));
afterAll(() => edge.close());

/** Starts a link; `sessions` is what it reports next, `warnings` what it has warned of. */
function start(
  base: string,
  transceiver: number,
  key: Uint8Array = SIGNING_KEY,
  cluster = CLUSTER,
) {
  const warnings: { reason: string; msg: string }[] = [];
  const state = { sessions: 0, warnings };
  const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) });
  const report = () => ({ transceiver, sessions: state.sessions, capacity: 9, draining: false });
  const link = startRosterLink({
    edge: base,
    cluster,
    signingKey: key,
    transceiver,
    report,
    log,
  });
  links.push(link);
  return { link, state };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server has no port');
  return address.port;
}

describe('a roster link', () => {
  it('is on the roster at once and keeps its report up to date', { timeout: 30_000 }, async () => {
    const { link, state } = start(`${url}/`, 5);
    await vi.waitFor(async () => {
      expect(await roster()).toMatchObject([{ transceiver: 5, sessions: 0, capacity: 9 }]);
    }, WAIT);
    expect(link.connected).toBe(true);
    state.sessions = 3;
    await vi.waitFor(async () => {
      expect(await roster()).toMatchObject([{ transceiver: 5, sessions: 3 }]);
    }, WAIT);
    await link.close();
    expect(link.connected).toBe(false);
    await vi.waitFor(async () => expect(await roster()).toEqual([]), WAIT);
    expect(state.warnings).toEqual([]);
  });

  it('warns once while it is refused, and says why', { timeout: 30_000 }, async () => {
    const { link, state } = start(url, 6, Buffer.alloc(32, 'other'));
    await vi.waitFor(() => expect(state.warnings).toHaveLength(1), WAIT);
    expect(state.warnings[0]!.reason).toBe('the edge answered 401');
    expect(state.warnings[0]!.msg).toContain('compare signingKey with the SIGNING_KEY');
    expect(link.refusal).toContain('compare signingKey with the SIGNING_KEY');
    expect(link.connected).toBe(false);
    expect(await roster()).toEqual([]);
  });

  it('says what to do where the edge knows no such cluster', { timeout: 30_000 }, async () => {
    const { state } = start(url, 6, SIGNING_KEY, 9);
    await vi.waitFor(() => expect(state.warnings).toHaveLength(1), WAIT);
    expect(state.warnings[0]).toMatchObject({
      reason: 'the edge answered 404',
      msg: expect.stringContaining('put this cluster into the steering table'),
    });
  });

  // A server of its own from here on: the Worker cannot be made to go away and come back.
  it('joins when the edge comes up, and again after each loss', { timeout: 30_000 }, async () => {
    const port = await freePort();
    const { link, state } = start(`http://127.0.0.1:${port}`, 7);
    await vi.waitFor(() => expect(state.warnings).toHaveLength(1), WAIT);
    expect(state.warnings[0]!.reason).toContain('ECONNREFUSED');
    expect(link.refusal).toBeUndefined();

    const tokens = new Set<string | undefined>();
    const server = new WebSocketServer({ port, host: '127.0.0.1' });
    server.on('connection', (_socket, request) => tokens.add(request.headers.authorization));
    await once(server, 'connection');
    await vi.waitFor(() => expect(link.connected).toBe(true), WAIT);
    for (const client of server.clients) client.terminate();
    await once(server, 'connection');
    await vi.waitFor(() => expect(link.connected).toBe(true), WAIT);
    expect(tokens.size).toBe(2);
    expect(state.warnings).toHaveLength(2);
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it(
    'tells of a refusal even after an edge that was away, until it is let in',
    { timeout: 40_000 },
    async () => {
      const port = await freePort();
      const { link, state } = start(`http://127.0.0.1:${port}`, 8);
      await vi.waitFor(() => expect(state.warnings).toHaveLength(1), WAIT);
      const refusing = createHttpServer((_request, response) => response.writeHead(404).end());
      refusing.listen(port, '127.0.0.1');
      await vi.waitFor(() => expect(state.warnings).toHaveLength(2), WAIT);
      expect(link.refusal).toContain('put this cluster into the steering table');
      refusing.closeAllConnections();
      refusing.close();
      await once(refusing, 'close');
      const server = new WebSocketServer({ port, host: '127.0.0.1' });
      await vi.waitFor(() => expect(link.connected).toBe(true), WAIT);
      expect(link.refusal).toBeUndefined();
      server.close();
      for (const client of server.clients) client.terminate();
    },
  );

  it('notices an edge that went silent', { timeout: 40_000 }, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
    await once(server, 'listening');
    let joins = 0;
    server.on('connection', () => joins++);
    start(`http://127.0.0.1:${portOf(server)}`, 8);
    const patience = { timeout: 4 * ROSTER_DEAD, interval: 50 };
    await vi.waitFor(() => expect(joins).toBeGreaterThan(1), patience);
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('bears with an edge that leaves a ping unanswered', { timeout: 30_000 }, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    let joins = 0;
    let pings = 0;
    server.on('connection', (socket) => {
      joins++;
      socket.on('message', (data) => {
        if (data instanceof Buffer && data.equals(PING) && ++pings % 2 === 0) socket.send('pong');
      });
    });
    start(`http://127.0.0.1:${portOf(server)}`, 8);
    await vi.waitFor(() => expect(pings).toBeGreaterThan(4), {
      timeout: 10 * ROSTER_HEARTBEAT,
      interval: 50,
    });
    expect(joins).toBe(1);
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('reports at once when it is told to', { timeout: 30_000 }, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const heard: string[] = [];
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        if (!(data instanceof Buffer) || data.equals(PING)) return;
        heard.push(data.toString());
      });
    });
    const { link, state } = start(`http://127.0.0.1:${portOf(server)}`, 8);
    // Nothing is sent before there is a link.
    link.reportNow();
    await vi.waitFor(() => expect(heard).toHaveLength(1), WAIT);
    const told = 100;
    for (let sessions = 1; sessions <= told; sessions++) {
      state.sessions = sessions;
      link.reportNow();
    }
    // Far more reports than heartbeats make in that time.
    await vi.waitFor(() => expect(heard.at(-1)).toContain(`"sessions":${told}`), WAIT);
    expect(heard.length).toBeGreaterThan(told);
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('reports what has changed before the next heartbeat, once', { timeout: 30_000 }, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const heard: string[] = [];
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        if (data instanceof Buffer) heard.push(data.toString());
        if (data instanceof Buffer && data.equals(PING)) socket.send('pong');
      });
    });
    const { state } = start(`http://127.0.0.1:${portOf(server)}`, 8);
    const beats = () => heard.filter((text) => text === 'ping').length;
    await vi.waitFor(() => expect(beats()).toBe(1), WAIT);
    for (let sessions = 1; sessions <= 3; sessions++) {
      state.sessions = sessions;
      await vi.waitFor(() => expect(heard.at(-1)).toContain(`"sessions":${sessions}`), WAIT);
    }
    await vi.waitFor(() => expect(beats()).toBeGreaterThanOrEqual(4), WAIT);
    // Each is in one report of its own and those of heartbeats, of which there is one after each ping.
    const reports = heard.filter((text) => text.includes('"sessions":3'));
    expect(reports.length).toBeLessThanOrEqual(beats() + 1);
    expect(heard.filter((text) => text.startsWith('{')).length).toBeGreaterThan(beats() + 1);
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('can be closed at any moment', async () => {
    const port = await freePort();
    await start(`http://127.0.0.1:${port}`, 9).link.close();
    const { link, state } = start(`http://127.0.0.1:${port}`, 9);
    await vi.waitFor(() => expect(state.warnings).toHaveLength(1), WAIT);
    await link.close();
    await link.close();
    await start(url, 9).link.close();
    expect(await roster()).toEqual([]);
  });
});
