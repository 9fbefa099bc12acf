/** An origin's command as a process of its own, to be asked over its admin server, signalled and killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { COMPILE_CACHE } from '../../local/child.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

const POLL = 20;

export interface OriginCommand {
  /** Path of its file. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of its admin server. */
  readonly admin: TrunkAddress;
}

export class CommandProcess implements AsyncDisposable {
  /** Settles with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #admin: string;
  #output = '';

  /** Starts it; ready() says when it is ready. */
  constructor({ path, env, admin }: OriginCommand) {
    this.#admin = `http://${admin.address}:${admin.port}`;
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (text: Buffer) => (this.#output += text.toString()));
    }
    this.ended = once(this.#child, 'exit').then(([code, signal]) => code ?? signal);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** What it has written. */
  get output(): string {
    return this.#output;
  }

  /** @throws Error with what it wrote when it ends before. */
  async ready(): Promise<void> {
    while ((await this.status('/readyz')) !== 200) {
      if (this.#isOver) throw new Error(`The process has ended:\n${this.#output}`);
      await delay(POLL);
    }
  }

  /** The status of an answer of its admin server; undefined when there is none. */
  async status(path: string): Promise<number | undefined> {
    try {
      return (await this.get(path)).status;
    } catch {
      return undefined;
    }
  }

  get(path: string): Promise<Response> {
    // A connection that is kept would reset when the process ends.
    return fetch(this.#admin + path, { headers: { connection: 'close' } });
  }

  /** The value of a metric's line. */
  async metric(name: string): Promise<number> {
    const text = await (await this.get('/metrics')).text();
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
