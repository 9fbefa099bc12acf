/** One Worker in a workerd of its own, and what its calls cost that process. */
import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';
import { promisify } from 'node:util';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { WebSocket } from 'ws';
import { sign } from '../../protocol/signature.ts';
import type { SteeringTable } from '../../protocol/footprint.ts';
import { ROSTER_HEARTBEAT } from '../../protocol/roster.ts';
import { cpuTime } from '../relay/process-facts.ts';
import type { BundleModule } from './bundle.ts';

/** Calls under way at once. */
const CONCURRENCY = 8;

/** More calls than a bench makes. */
const NO_LIMIT = { namespace_id: 'bench', simple: { limit: 1e9, period: 60 as const } };

const KEY = Buffer.alloc(32, 'bench');
const OFFER = `v=0\r\n${'a=candidate:1 1 udp 2122260223 192.0.2.9 50000 typ host\r\n'.repeat(40)}`;
const PLACE = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE', clientTcpRtt: 9 };

export interface Subject {
  /** Microseconds of processor time that one of so many calls cost. */
  costOf(calls: number): Promise<number>;
  close(): Promise<void>;
}

/** The edge, with that table and one transceiver in each cluster that a call could go to. */
export async function startEdgeSubject(
  modules: readonly BundleModule[],
  table: SteeringTable,
): Promise<Subject> {
  const miniflare = start(modules);
  const url = await miniflare.ready;
  const footprint = await miniflare.getKVNamespace('FOOTPRINT');
  await footprint.put('steering', JSON.stringify(table));
  const tenants = await miniflare.getKVNamespace('TENANTS');
  await tenants.put('public', JSON.stringify({ keys: [], callsPerMinute: 6000 }));
  const joined = await Promise.all(
    table.clusters.slice(0, 3).map(({ cluster }) => join(url, cluster)),
  );
  return subject(miniflare, url, () => joined.forEach((leave) => leave()));
}

/** A Worker that only counts each request against a limit and passes it on: what the platform takes for a call. */
export async function startForwardSubject(origin: string): Promise<Subject> {
  const contents = `export default { async fetch(request, env) {
    await env.CALLS_6000.limit({ key: 'bench' });
    const body = await request.arrayBuffer();
    const answer = await fetch('${origin}/v1/sessions', { method: 'POST', body });
    return new Response(await answer.arrayBuffer(), { status: answer.status });
  } }`;
  const miniflare = start([{ type: 'ESModule', path: 'index.js', contents }]);
  return subject(miniflare, await miniflare.ready, () => undefined);
}

function start(modules: readonly BundleModule[]): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: () => undefined,
      telemetry: { enabled: false },
      name: 'edge',
      modules: [...modules],
      compatibilityDate: '2026-11-17',
      compatibilityFlags: ['nodejs_compat'],
      bindings: {
        ROUTING_KEYS: `B:${Buffer.alloc(16, 'bench').toString('base64')}`,
        SIGNING_KEY: KEY.toString('base64'),
        CLIENT_SECRET_KEYS: `B:${KEY.toString('base64')}`,
        VERSION: { id: 'bench', tag: '', timestamp: '' },
      },
      kvNamespaces: ['FOOTPRINT', 'TENANTS'],
      ratelimits: { CALLS_60: NO_LIMIT, CALLS_600: NO_LIMIT, CALLS_6000: NO_LIMIT },
      ...(modules[0]!.contents.includes('Roster') && {
        durableObjects: { ROSTER: { className: 'Roster', useSQLite: true } },
      }),
    }),
  );
}

async function subject(miniflare: Miniflare, url: URL, leave: () => void): Promise<Subject> {
  const workerd = await newestWorkerd();
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  return {
    costOf: async (calls) => {
      const before = await cpuTime(workerd);
      let left = calls;
      const caller = async () => {
        while (left-- > 0) await call(url, agent);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, caller));
      return ((await cpuTime(workerd)) - before) / calls;
    },
    close: async () => {
      leave();
      agent.destroy();
      await miniflare.dispose();
    },
  };
}

/** The one that was started last; subjects are started one after the other. */
async function newestWorkerd(): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', [
    '-n',
    '-P',
    String(process.pid),
    'workerd',
  ]);
  return Number(stdout);
}

function call(url: URL, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/sdp', 'mf-cf-blob': JSON.stringify(PLACE) };
    const sent = request(
      new URL('/v1/calls', url),
      { method: 'POST', agent, headers },
      (answer) => {
        const isGood = answer.statusCode === 201;
        answer.resume().on('end', () => {
          if (isGood) resolve();
          else reject(new Error(`a call was answered with ${answer.statusCode}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(OFFER);
  });
}

async function join(url: URL, cluster: number): Promise<() => void> {
  const token = await sign(new Uint8Array(KEY), cluster, { op: 'join', transceiver: 1 });
  const address = new URL(`/v1/roster/${cluster}`, url.href.replace('http', 'ws'));
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const report = JSON.stringify({ transceiver: 1, sessions: 0, capacity: 1e9, draining: false });
  socket.send(report);
  const heartbeat = setInterval(() => socket.send(report), ROSTER_HEARTBEAT);
  // The answer to a ping that follows the report shows that the report has arrived.
  const answered = new Promise((resolve) => socket.once('message', resolve));
  socket.send('ping');
  await answered;
  return () => {
    clearInterval(heartbeat);
    socket.terminate();
  };
}
