/**
 * The Worker in workerd alone, with two clusters of one transceiver each: the harness of wrangler fetches by way of
 * Node, which turns a broken connection into a 500.
 */
import { fileURLToPath } from 'node:url';
import { startEdge, type Edge } from '../../local/edge.ts';
import { choosePorts } from '../../local/ports.ts';
import { LOCAL_TENANTS } from '../../local/tenants.ts';
import { parseSigningKey } from '../../protocol/signature.ts';
import { CLIENT_SECRET_KEYS, joinRoster, ROUTING_KEYS, SIGNING_KEY } from './local-edge.ts';
import { startSignedOrigin, type SignedOrigin } from './signed-origin.ts';
import { testTable } from './steering-table.ts';

/** The header that places a client near to cluster 2. */
export const NEAR = {
  'mf-cf-blob': JSON.stringify({ colo: 'FRA', latitude: '50.11', longitude: '8.68' }),
};

export interface BareStage {
  readonly edge: Edge;
  /** Of clusters 1 and 2, whose transceivers are 11 and 21. */
  readonly origins: readonly [SignedOrigin, SignedOrigin];
  /** As `fetch`, with {@link NEAR}. */
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @param tenants Beside those of a local run. @param secrets Beside those of every edge. */
export async function openBareStage(
  tenants: Readonly<Record<string, object>> = {},
  secrets: Readonly<Record<string, string>> = {},
): Promise<BareStage> {
  const key = parseSigningKey(SIGNING_KEY);
  const origins = await Promise.all([startSignedOrigin(key, 1), startSignedOrigin(key, 2)]);
  const [one, two] = origins;
  const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
  const options = {
    configPath: fileURLToPath(new URL('../../wrangler.toml', import.meta.url).href),
    port: port!,
    secrets: { ROUTING_KEYS, SIGNING_KEY, CLIENT_SECRET_KEYS, ...secrets },
    steering: testTable({ 1: { signaling: one.url }, 2: { signaling: two.url } }),
    tenants: { ...LOCAL_TENANTS, ...tenants },
  };
  const edge = await startEdge(options, () => undefined);
  const report = { sessions: 0, capacity: 10, draining: false };
  const links = [
    await joinRoster(edge.url, 1, { ...report, transceiver: 11 }),
    await joinRoster(edge.url, 2, { ...report, transceiver: 21 }),
  ];
  return {
    edge,
    origins,
    ask: (method, path, { headers = {}, ...rest } = {}) =>
      fetch(edge.url + path, {
        method,
        headers: { ...headers, ...NEAR },
        ...rest,
      }),
    close: async () => {
      for (const link of links) link.terminate();
      await edge.close();
      await Promise.all(origins.map((origin) => origin.close()));
    },
  };
}
