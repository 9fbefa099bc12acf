/** The edge on this machine: the real Worker in workerd, with its bindings kept in memory. */
import { unstable_startWorker as startWorker } from 'wrangler';
import type { SteeringTable } from '../protocol/footprint.ts';
import type { EdgeOptions } from './edge-options.ts';
import { LOOPBACK } from './ports.ts';

/** Binding of the namespace and key in it of the edge's table. */
const FOOTPRINT_BINDING = 'FOOTPRINT';
const STEERING_KEY = 'steering';

/** Needs no table, so it can be asked before there is one. The host does not matter. */
const HEALTH_URL = 'http://localhost/healthz';

export interface Edge {
  /** Base URL without a final slash. */
  readonly url: string;
  /** Puts another table in place; the Worker takes it up once its copy is old. */
  steer(table: SteeringTable): Promise<void>;
  close(): Promise<void>;
}

/**
 * The header MF-CF-Blob, JSON, sets `request.cf` of one request: that is how a caller has a place.
 *
 * @param onLog Called with each line that the Worker logs as a warning or an error.
 * @throws Error when the Worker cannot be built or the port is taken.
 */
export async function startEdge(
  options: EdgeOptions,
  onLog: (line: string) => void,
): Promise<Edge> {
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
      structuredLogsHandler: ({ level, message }: { level: string; message: string }) => {
        if (level === 'warn' || level === 'error') onLog(message);
      },
    },
  });
  const steer = async (table: SteeringTable) => {
    const { mf: miniflare } = worker.raw.runtimes[0]!;
    const footprint = await miniflare!.getKVNamespace(FOOTPRINT_BINDING, worker.config.name);
    await footprint.put(STEERING_KEY, JSON.stringify(table));
  };
  try {
    await Promise.race([answers(worker), failureOf(worker.raw)]);
    await steer(options.steering);
  } catch (error) {
    await worker.dispose();
    throw error;
  }
  return { url: `http://localhost:${options.port}`, steer, close: () => worker.dispose() };
}

/** Settles once the Worker runs: what stands before it is ready sooner, and holds requests. */
async function answers(worker: Awaited<ReturnType<typeof startWorker>>): Promise<void> {
  const response = await worker.fetch(HEALTH_URL);
  const text = await response.text();
  if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${text}`);
}

/** Rejects with the first fault; a Worker that cannot be built never gets ready. */
function failureOf(environment: NodeJS.EventEmitter): Promise<never> {
  return new Promise((_, reject) => {
    const fail = ({ reason, cause }: { reason?: string; cause?: Error }) => {
      reject(new Error(reason ?? 'the Worker cannot be built', { cause }));
    };
    environment.once('error', fail);
    environment.once('buildFailed', fail);
  });
}
