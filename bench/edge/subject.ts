/** One Worker in a workerd of its own, and what its calls cost that process. */
import { Agent, request } from 'node:http';
import { WebSocket } from 'ws';
import { sign } from '../../protocol/signature.ts';
import type { SteeringTable } from '../../protocol/footprint.ts';
import { ROSTER_HEARTBEAT } from '../../protocol/roster.ts';
import { cpuTime } from '../relay/process-facts.ts';
import type { BundleModule } from './bundle.ts';
import { startNamespace } from './origin.ts';
import { CF_HEADER, startWorkerd, type Workerd } from './workerd.ts';

/** Calls under way at once. */
const CONCURRENCY = 8;

const KEY = Buffer.alloc(32, 'bench');
const OFFER = `v=0\r\n${'a=candidate:1 1 udp 2122260223 192.0.2.9 50000 typ host\r\n'.repeat(40)}`;
const PLACE = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE', clientTcpRtt: 9 };

/** As long as those that the edge sends to an origin. */
const SENT_HEADERS = {
  'content-type': 'application/sdp',
  authorization: `Bearer ${'x'.repeat(639)}`,
  'x-request-id': crypto.randomUUID(),
};

/** As long as those that the edge answers with. */
const TOLD_HEADERS = {
  'content-type': 'application/sdp',
  location: `/v1/calls/${'x'.repeat(73)}`,
  etag: '"1"',
  'server-timing': 'steer;dur=0.0, roster;dur=0.0, mint;dur=0.0, forward;dur=1.0, answer;dur=1.0',
  'relay-path': 'colo="FRA", cluster="eu-central-0", ingress="eu-central-0", transceiver=1',
  'x-request-id': crypto.randomUUID(),
  'access-control-expose-headers': 'x'.repeat(110),
  'access-control-allow-origin': '*',
};

/** As long as what the edge logs of a call. */
const LINE = {
  message: 'request',
  requestId: crypto.randomUUID(),
  method: 'POST',
  route: '/v1/calls',
  status: 201,
  duration: 1,
  tenant: 'public',
  by: 'nothing',
  colo: 'FRA',
  country: 'DE',
  path: TOLD_HEADERS['relay-path'],
  basis: 'coordinates',
  stages: { steer: 0, roster: 0, mint: 0, forward: 1, answer: 1 },
  version: 'bench',
};

export interface Subject {
  readonly pid: number;
  /** Microseconds of processor time that one of so many calls cost. */
  costOf(calls: number): Promise<number>;
  close(): Promise<void>;
}

/** The edge, with that table and one transceiver in each cluster that a call could go to. */
export async function startEdgeSubject(
  modules: readonly BundleModule[],
  table: SteeringTable,
): Promise<Subject> {
  const footprint = await startNamespace({ steering: JSON.stringify(table) });
  const tenant = { keys: [], callsPerMinute: 6000 };
  const tenants = await startNamespace({ public: JSON.stringify(tenant) });
  const workerd = await startWorkerd({
    modules,
    texts: {
      ROUTING_KEYS: `B:${Buffer.alloc(16, 'bench').toString('base64')}`,
      SIGNING_KEY: KEY.toString('base64'),
      CLIENT_SECRET_KEYS: `B:${KEY.toString('base64')}`,
    },
    jsons: { VERSION: { id: 'bench', tag: '', timestamp: '' } },
    namespaces: { FOOTPRINT: footprint.host, TENANTS: tenants.host },
    limits: ['CALLS_60', 'CALLS_600', 'CALLS_6000'],
    dataSets: ['CALL_POINTS'],
    objects: { ROSTER: 'Roster' },
  });
  const joined = await Promise.all(
    table.clusters.slice(0, 3).map(({ cluster }) => join(workerd.url, cluster)),
  );
  return subject(workerd, async () => {
    joined.forEach((leave) => leave());
    await Promise.all([footprint.close(), tenants.close()]);
  });
}

/**
 * A Worker that reads, sends and answers as many bytes as the edge and logs a line, and nothing else: what the
 * platform takes. The line is in it, since workerd alone formats it for a terminal, which Cloudflare does not.
 */
export async function startForwardSubject(host: string): Promise<Subject> {
  const contents = `const sent = ${JSON.stringify(SENT_HEADERS)};
  const told = ${JSON.stringify(TOLD_HEADERS)};
  const line = ${JSON.stringify(LINE)};
  export default { async fetch(request) {
    const body = await request.arrayBuffer();
    const answer = await fetch('http://${host}/v1/sessions', { method: 'POST', headers: sent, body });
    console.log(line);
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: told });
  } }`;
  const workerd = await startWorkerd({
    modules: [{ type: 'ESModule', path: 'index.js', contents }],
    texts: {},
    jsons: {},
    namespaces: {},
    limits: [],
    dataSets: [],
    objects: {},
  });
  return subject(workerd, () => Promise.resolve());
}

async function subject(workerd: Workerd, leave: () => Promise<void>): Promise<Subject> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  return {
    pid: workerd.pid,
    costOf: async (calls) => {
      const before = await cpuTime(workerd.pid);
      let left = calls;
      const caller = async () => {
        while (left-- > 0) await call(workerd.url, agent);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, caller));
      return ((await cpuTime(workerd.pid)) - before) / calls;
    },
    close: async () => {
      agent.destroy();
      await leave();
      await workerd.close();
    },
  };
}

function call(url: URL, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/sdp', [CF_HEADER]: JSON.stringify(PLACE) };
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
  const token = sign(new Uint8Array(KEY), cluster, { op: 'join', transceiver: 1 });
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
