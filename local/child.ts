/** A service in a process of its own, and what its parent may ask of it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { reasonsOf } from '../origin/reasons.ts';
import type { Answers, ParentRequest, ServiceMessage } from '../origin/parent.ts';

/** Milliseconds a service has to get ready, and to end before it is killed. */
const START_TIMEOUT = 60_000;
const END_TIMEOUT = 5_000;

/** Keeps compiled modules between runs: each service has thousands of them to load. */
export const COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/compiled', import.meta.url),
);

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** @typeParam A What it answers to. */
export class Child<A extends Answers> {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #linesRead: Promise<unknown> | undefined;
  #nextId = 0;

  constructor(name: string, process: ChildProcess, onLine?: (line: string) => void) {
    this.#name = name;
    this.#process = process;
    if (process.stdout && onLine) {
      const lines = createInterface(process.stdout).on('line', onLine);
      this.#linesRead = once(lines, 'close');
    }
    process.on('message', (message: ServiceMessage) => this.#onMessage(message));
    this.onEnd((how) => {
      this.#killGroup();
      this.#refuseAll(`its process has ended ${how}`);
    });
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Calls back with how the process ended, once it has. */
  onEnd(callback: (how: string) => void): void {
    this.#process.once('exit', (code, signal) => callback(howOf(code, signal)));
  }

  /** @throws Error with the service's own reason when it refuses, or when it has ended. */
  ask<Q extends keyof A & string>(
    ask: Q,
    ...about: Parameters<A[Q]>
  ): Promise<Awaited<ReturnType<A[Q]>>> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, ask, about: about[0] } satisfies ParentRequest, (error) => {
        if (error) this.#refuse(id, error.message);
      });
    });
  }

  /** Ends it in order, with all it has to say; kills it when it takes too long. */
  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      const timer = setTimeout(() => this.kill(), END_TIMEOUT);
      this.#process.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
    }
    await this.#linesRead;
  }

  /** Ends it at once, and with it all that it started. */
  kill(): void {
    this.#killGroup();
    this.#process.kill('SIGKILL');
  }

  /** It leads a group of its own, which what it started outlives it in, were it killed from outside. */
  #killGroup(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // There is none any more, or the system knows no groups.
    }
  }

  #onMessage(message: ServiceMessage): void {
    if (message.kind === 'answer') {
      this.#waiting.get(message.id)?.resolve(message.value);
      this.#waiting.delete(message.id);
    } else if (message.kind === 'refusal') {
      this.#refuse(message.id, message.reason);
    }
  }

  #refuse(id: number, reason: string): void {
    this.#waiting.get(id)?.reject(new Error(`${this.#name} cannot answer: ${reason}`));
    this.#waiting.delete(id);
  }

  #refuseAll(reason: string): void {
    for (const id of this.#waiting.keys()) this.#refuse(id, reason);
  }
}

export interface ChildOptions {
  /** For messages. */
  readonly name: string;
  /** The module to run. */
  readonly module: URL;
  /** Added to this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills the process when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each line of its standard output, which is a log; standard error takes it otherwise. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Called with each line of its standard error, which is this process's own otherwise. */
  readonly onErrorLine?: ((line: string) => void) | undefined;
}

/** What a module says when it is ready, and what it answers to. */
export interface ServiceType {
  readonly ready: unknown;
  readonly answers: Answers;
}

/**
 * @typeParam S What the module is.
 * @throws Error with the service's own reason when it cannot start; its process has ended then.
 */
export async function startChild<S extends ServiceType>(
  options: ChildOptions,
): Promise<{ child: Child<S['answers']>; ready: S['ready'] }> {
  if (options.signal?.aborted) throw new Error(`${options.name}: its start was broken off.`);
  const forked = fork(fileURLToPath(options.module), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...options.env },
    // Standard output is the parent's own.
    stdio: ['ignore', options.onLine ? 'pipe' : 2, options.onErrorLine ? 'pipe' : 2, 'ipc'],
    // A group of its own: Ctrl-C is for the parent, which then ends its services in order.
    detached: true,
  });
  if (forked.stderr && options.onErrorLine) {
    createInterface(forked.stderr).on('line', options.onErrorLine);
  }
  const child = new Child<S['answers']>(options.name, forked, options.onLine);
  options.signal?.addEventListener('abort', () => child.kill(), { once: true });
  try {
    return { child, ready: await readyOf(forked) };
  } catch (error) {
    await child.close();
    throw new Error(`${options.name} cannot start: ${reasonsOf(error)}`, { cause: error });
  }
}

/** What the process says when it is ready; its failure, its end and its silence are errors. */
function readyOf(process: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it was not ready within ${START_TIMEOUT / 1000} s`));
    }, START_TIMEOUT);
    process.once('message', (message: ServiceMessage) => {
      clearTimeout(timer);
      if (message.kind === 'ready') resolve(message.value);
      else
        reject(new Error(message.kind === 'failed' ? message.reason : 'it spoke before its time'));
    });
    process.once('error', reject);
    process.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`its process ended ${howOf(code, signal)}`));
    });
  });
}

function howOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ? `by ${signal}` : `with exit code ${code}`;
}
