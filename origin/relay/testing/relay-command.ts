/** A relay as a process of its own, on free ports, that tests signal and kill. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { choosePorts, LOOPBACK } from '../../../local/ports.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { RELAY_CONFIG_VARIABLE, type RelayConfigInput } from '../../relay-config.ts';
import { KEY } from './rig.ts';

const COMMAND = new URL('../../relay-process.ts', import.meta.url).pathname;
const POLL = 5;

export const ROUTING_KEYS = `${KEY.id}:${Buffer.from(KEY.key).toString('base64')}`;

const at = (port: number): TrunkAddress => ({ address: LOOPBACK, port });

/** Of cluster 1, on ports that were free a moment ago. */
export async function relayConfig(
  changes: Partial<RelayConfigInput> = {},
): Promise<RelayConfigInput> {
  const ports = await choosePorts({
    listener: { protocol: 'udp' },
    trunk: { protocol: 'udp' },
    admin: { protocol: 'tcp' },
  });
  return {
    cluster: 1,
    relay: { listeners: [at(ports.listener!)], trunk: at(ports.trunk!) },
    peers: ['127.0.0.0/8'],
    routingKeys: ROUTING_KEYS,
    admin: at(ports.admin!),
    logLevel: 'error',
    ...changes,
  };
}

export class RelayProcess {
  readonly listeners: readonly TrunkAddress[];
  /** Settles with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #admin: string;
  #errors = '';

  private constructor(config: RelayConfigInput, redisUrl: string | undefined) {
    this.listeners = config.relay.listeners;
    this.#admin = `http://${config.admin!.address}:${config.admin!.port}`;
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND], {
      env: {
        ...process.env,
        [RELAY_CONFIG_VARIABLE]: JSON.stringify(config),
        REDIS_URL: redisUrl ?? '',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (text: Buffer) => (this.#errors += text.toString()));
    }
    this.ended = once(this.#child, 'exit').then(([code, signal]) => code ?? signal);
    onTestFinished(() => this.kill());
  }

  /** Does not wait until it is ready. */
  static spawn(config: RelayConfigInput, redisUrl?: string): RelayProcess {
    return new RelayProcess(config, redisUrl);
  }

  static async started(config: RelayConfigInput, redisUrl?: string): Promise<RelayProcess> {
    const relay = RelayProcess.spawn(config, redisUrl);
    await relay.ready();
    return relay;
  }

  /** What it wrote, to be looked into when it has ended. */
  get output(): string {
    return this.#errors;
  }

  /** Settles once it is ready. @throws Error with what it wrote when it ends before. */
  async ready(): Promise<void> {
    while ((await this.status('/readyz')) !== 200) {
      if (this.#isOver) throw new Error(`The relay has ended:\n${this.#errors}`);
      await delay(POLL);
    }
  }

  /** The status of an answer of its admin server; undefined when there is none. */
  async status(path: string): Promise<number | undefined> {
    try {
      return (await this.#get(path)).status;
    } catch {
      return undefined;
    }
  }

  /** The value of a metric's line. */
  async metric(name: string): Promise<number> {
    const text = await (await this.#get('/metrics')).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    if (line === undefined) throw new Error(`There is no metric ${name}.`);
    return Number(line.slice(name.length + 1));
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    if (!this.#isOver) this.#child.kill('SIGKILL');
    await this.ended;
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #get(path: string): Promise<Response> {
    // A connection that is kept would reset when the relay ends.
    return fetch(this.#admin + path, { headers: { connection: 'close' } });
  }
}
