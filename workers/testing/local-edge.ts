/** The real Worker in workerd, for tests in Node that need real origins around it. */
import { once } from 'node:events';
import { createTestHarness, type TestHarness } from 'wrangler';
import { WebSocket } from 'ws';
import { ROSTER_HEARTBEAT, type TransceiverReport } from '../../protocol/roster.ts';
import { sign } from '../../protocol/signature.ts';

export const ROUTING_KEYS = `T:${Buffer.alloc(16, 'edge').toString('base64')}`;
export const SIGNING_KEY = Buffer.alloc(32, 'edge').toString('base64');
export const CLIENT_SECRET_KEYS = `T:${Buffer.alloc(32, 'edge').toString('base64')}`;

/** A tenant for callers who show nothing, as most tests are. */
const PUBLIC = { keys: [], callsPerMinute: 6000 };

export interface LocalEdge {
  /** Base URL without a final slash. */
  readonly url: string;
  /** As `fetch`; `cf` is what Cloudflare would tell of the client. */
  readonly fetch: TestHarness['fetch'];
  /** Replaces the text of the steering table in KV. */
  putSteering(text: string): Promise<void>;
  /** Writes a tenant's configuration. */
  putTenant(name: string, tenant: object): Promise<void>;
  /** Joins a roster with a report that stays the same, and leaves with the returned function. */
  join(cluster: number, report: TransceiverReport): Promise<() => void>;
  /** Deploys the Worker anew: isolates and objects end, links are cut, and what is stored stays. */
  deploy(): Promise<void>;
  /** Links of {@link join} that are open. */
  links(): number;
  /** What the Worker logged so far, one text. */
  logs(): string;
  close(): Promise<void>;
}

/**
 * @param steering Text of the steering table in KV; none when undefined.
 * @param secrets Instead of the good ones.
 */
export async function startLocalEdge(
  steering: string | undefined,
  secrets: Record<string, string> = {},
): Promise<LocalEdge> {
  const configPath = new URL('../../wrangler.toml', import.meta.url);
  const good = { ROUTING_KEYS, SIGNING_KEY, CLIENT_SECRET_KEYS };
  const harness = createTestHarness({
    workers: [{ configPath, secrets: { ...good, ...secrets } }],
  });
  const { url } = await harness.listen();
  const { FOOTPRINT, TENANTS } = await harness.getWorker<Env>().getEnv();
  const putSteering = (text: string) => FOOTPRINT.put('steering', text);
  const putTenant = (name: string, tenant: object) => TENANTS.put(name, JSON.stringify(tenant));
  await putTenant('public', PUBLIC);
  if (steering !== undefined) await putSteering(steering);
  const joined: WebSocket[] = [];
  return {
    url: url.origin,
    fetch: harness.fetch,
    putSteering,
    putTenant,
    join: async (cluster, report) => {
      const socket = await joinRoster(url.origin, cluster, report);
      joined.push(socket);
      return () => socket.terminate();
    },
    deploy: () => harness.update((current) => current),
    links: () => joined.filter(({ readyState }) => readyState === WebSocket.OPEN).length,
    logs: () =>
      harness
        .getLogs()
        .map(({ message }) => message)
        .join('\n'),
    close: async () => {
      for (const socket of joined) socket.terminate();
      await harness.close();
    },
  };
}

/** Joins a roster of an edge with {@link SIGNING_KEY}, as {@link LocalEdge.join} does. */
export async function joinRoster(
  edge: string,
  cluster: number,
  report: TransceiverReport,
): Promise<WebSocket> {
  const { transceiver } = report;
  const key = new Uint8Array(Buffer.from(SIGNING_KEY, 'base64'));
  const token = sign(key, cluster, { op: 'join', transceiver });
  const address = `${edge.replace('http', 'ws')}/v1/roster/${cluster}`;
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(address, { headers });
  await once(socket, 'open');
  const text = JSON.stringify(report);
  socket.send(text);
  const heartbeat = setInterval(() => socket.send(text), ROSTER_HEARTBEAT);
  socket.on('close', () => clearInterval(heartbeat));
  // The answer to a ping that follows the report shows that the report has arrived.
  socket.send('ping');
  await once(socket, 'message');
  return socket;
}
