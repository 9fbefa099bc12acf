/** The edge on this machine: the real Worker in workerd, with its bindings kept in memory. */
import { unstable_DevEnv as DevEnvironment } from 'wrangler';
import type { SteeringTable } from '../protocol/footprint.ts';
import type { EdgeOptions } from './edge-options.ts';
import { LOOPBACK } from './ports.ts';

/** Bindings of the namespaces, and the key of the edge's table. */
const FOOTPRINT_BINDING = 'FOOTPRINT';
const TENANTS_BINDING = 'TENANTS';
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

/** What {@link DevEnvironment} emits for a fault: an event with a reason, or a bare error. */
interface Fault {
  readonly reason?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

type Worker = Awaited<ReturnType<DevEnvironment['startWorker']>>;

/**
 * The header MF-CF-Blob, JSON, sets `request.cf` of one request: that is how a caller has a place.
 *
 * @param onLog Called with each line that the Worker logs, as far as the options ask for it.
 * @throws Error when the Worker cannot be built or the port is taken. What has started by then ends with
 *   this process's group alone: an environment that never got ready cannot be disposed of.
 */
export async function startEdge(
  options: EdgeOptions,
  onLog: (line: string) => void,
): Promise<Edge> {
  const environment = new DevEnvironment();
  // It emits some faults while it starts, and settles nothing after them.
  const fault = faultOf(environment);
  const starting = environment.startWorker({
    config: options.configPath,
    bindings: secretBindings(options.secrets),
    ...(options.page !== undefined && { assets: options.page }),
    dev: {
      server: { hostname: LOOPBACK, port: options.port },
      inspector: false,
      persist: options.persist ?? false,
      remote: false,
      watch: false,
      structuredLogsHandler: ({ level, message }: { level: string; message: string }) => {
        const isTrouble = level === 'warn' || level === 'error';
        if (isTrouble || options.logRequests) onLog(message.replaceAll(/\s*\n\s*/g, ' '));
      },
    },
  });
  const worker = await Promise.race([starting, fault]);
  const write = async (binding: string, key: string, value: object) => {
    const { mf: miniflare } = environment.runtimes[0]!;
    const namespace = await miniflare!.getKVNamespace(binding, worker.config.name);
    await namespace.put(key, JSON.stringify(value));
  };
  const steer = (table: SteeringTable) => write(FOOTPRINT_BINDING, STEERING_KEY, table);
  const fill = async () => {
    await answers(worker);
    await steer(options.steering);
    for (const [name, tenant] of Object.entries(options.tenants)) {
      await write(TENANTS_BINDING, name, tenant);
    }
  };
  await Promise.race([fill(), fault]);
  return { url: `http://${LOOPBACK}:${options.port}`, steer, close: () => worker.dispose() };
}

function secretBindings(secrets: EdgeOptions['secrets']) {
  const bindings: Record<string, { readonly type: 'secret_text'; readonly value: string }> = {};
  for (const [name, value] of Object.entries(secrets)) {
    if (value !== undefined) bindings[name] = { type: 'secret_text', value };
  }
  return bindings;
}

/** Settles once the Worker runs: what stands before it is ready sooner, and holds requests. */
async function answers(worker: Worker): Promise<void> {
  const response = await worker.fetch(HEALTH_URL);
  const text = await response.text();
  if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${text}`);
}

/** Rejects with the first fault; never settles without one. */
function faultOf(environment: DevEnvironment): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const fail = ({ reason, message, cause }: Fault) => {
    reject(new Error(reason ?? message ?? 'the Worker cannot be built', { cause }));
  };
  environment.once('error', fail);
  environment.once('buildFailed', fail);
  // One that comes when nothing waits for it any more is the environment's to log.
  promise.catch(() => undefined);
  return promise;
}
