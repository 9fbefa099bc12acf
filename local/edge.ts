/** The edge on this machine: the real Worker in workerd, with its bindings kept in memory. */
import process from 'node:process';
import type { SteeringTable } from '../protocol/footprint.ts';
import { LOOPBACK } from './ports.ts';

/** Binding of the namespace and key in it of the edge's table. */
const FOOTPRINT_BINDING = 'FOOTPRINT';
const STEERING_KEY = 'steering';

/** Keeps wrangler quiet and offline. */
const QUIET = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

export interface EdgeOptions {
  /** Path of wrangler.toml. */
  readonly configPath: string;
  /** TCP port on loopback. */
  readonly port: number;
  readonly secrets: Readonly<Record<'ROUTING_KEYS' | 'SIGNING_KEY', string>>;
  readonly steering: SteeringTable;
  /** Called with each line the Worker logs as a warning or an error. */
  onLog(line: string): void;
}

export interface Edge {
  /** Base URL without a final slash. */
  readonly url: string;
  /** Puts another table in place; the Worker takes it up once its copy is old. */
  steer(table: SteeringTable): Promise<void>;
  close(): Promise<void>;
}

/** The header MF-CF-Blob, JSON, sets `request.cf` of one request: that is how a caller has a place. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  Object.assign(process.env, QUIET);
  // Loading wrangler keeps this thread busy for a second, in which region processes can start.
  const { unstable_startWorker: startWorker } = await import('wrangler');
  const worker = await startWorker({
    config: options.configPath,
    bindings: {
      ROUTING_KEYS: { type: 'secret_text', value: options.secrets.ROUTING_KEYS },
      SIGNING_KEY: { type: 'secret_text', value: options.secrets.SIGNING_KEY },
    },
    dev: {
      server: { hostname: LOOPBACK, port: options.port },
      inspector: false,
      persist: false,
      remote: false,
      watch: false,
      // At `warn` wrangler would miss the secrets in files of its own; they come as bindings.
      logLevel: 'error',
      structuredLogsHandler: ({ level, message }) => {
        if (level === 'warn' || level === 'error') options.onLog(message);
      },
    },
  });
  const steer = async (table: SteeringTable) => {
    const { mf: miniflare } = worker.raw.runtimes[0]!;
    const footprint = await miniflare!.getKVNamespace(FOOTPRINT_BINDING, worker.config.name);
    await footprint.put(STEERING_KEY, JSON.stringify(table));
  };
  try {
    await Promise.race([worker.ready, failure(worker.raw)]);
    await steer(options.steering);
  } catch (error) {
    await worker.dispose();
    throw error;
  }
  return { url: `http://localhost:${options.port}`, steer, close: () => worker.dispose() };
}

/** Rejects with the first fault; a Worker that cannot be built never gets ready. */
function failure(environment: NodeJS.EventEmitter): Promise<never> {
  return new Promise((_, reject) => {
    environment.once('error', ({ reason, cause }: { reason: string; cause: unknown }) => {
      reject(new Error(`The edge cannot start: ${reason}`, { cause }));
    });
  });
}
