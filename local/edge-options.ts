/** What the edge's process is told. */
import type { SteeringTable } from '../protocol/footprint.ts';

/** The environment variable that holds the {@link EdgeOptions} as JSON. */
export const EDGE_OPTIONS_VARIABLE = 'EDGE_OPTIONS';

export interface EdgeOptions {
  /** Path of wrangler.toml. */
  readonly configPath: string;
  /** TCP port on loopback. */
  readonly port: number;
  readonly secrets: Readonly<
    Record<'ROUTING_KEYS' | 'SIGNING_KEY' | 'CLIENT_SECRET_KEYS', string>
  > & {
    /** Without it there is no admin API. */
    readonly ADMIN_KEY_HASH?: string | undefined;
  };
  /** Folder of the page; the project's own unless given. */
  readonly page?: string | undefined;
  readonly steering: SteeringTable;
  /** Folder in which KV and the objects outlive the edge; without one they end with it. */
  readonly persist?: string | undefined;
  /** Whether its lines of requests are shown; warnings and errors are in any case. */
  readonly logRequests?: boolean | undefined;
  /** Configurations by name, as workers/tenants.ts reads them. */
  readonly tenants: Readonly<Record<string, object>>;
}

/** The environment of a quiet, offline edge; wrangler would also miss the secrets in files of its own. */
export function edgeEnvironment(options: EdgeOptions): Record<string, string> {
  return {
    [EDGE_OPTIONS_VARIABLE]: JSON.stringify(options),
    WRANGLER_LOG: 'error',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  };
}
