/** A region as a process of its own, and what its parent may ask of it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RegionAddresses, RegionDump } from '../origin/one-box.ts';
import { REGION_CONFIG_VARIABLE, type RegionConfigInput } from '../origin/region-config.ts';
import type {
  RegionAnswers,
  RegionMessage,
  RegionQuestion,
  RegionRequest,
} from '../origin/region-control.ts';
import type { RelayCounters } from '../origin/relay/counters.ts';

const COMMAND = fileURLToPath(new URL('../origin/region.ts', import.meta.url));

/** Milliseconds a region may take to end before it is killed. */
const END_TIMEOUT = 5_000;

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class RegionProcess {
  readonly name: string;
  readonly addresses: RegionAddresses;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;

  private constructor(name: string, child: ChildProcess, addresses: RegionAddresses) {
    this.name = name;
    this.#child = child;
    this.addresses = addresses;
    this.onEnd((how) => this.#refuseAll(new Error(`The process of ${name} has ended ${how}.`)));
    child.on('message', (message: RegionMessage) => this.#onMessage(message));
  }

  /** @throws Error with the region's own reason when it cannot start. */
  static async start(config: RegionConfigInput): Promise<RegionProcess> {
    const child = fork(COMMAND, {
      execPath: process.execPath,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: { ...process.env, [REGION_CONFIG_VARIABLE]: JSON.stringify(config) },
      // Logs are for people to read, and standard output is the parent's own.
      stdio: ['ignore', 2, 2, 'ipc'],
      // A group of its own: Ctrl-C is for the parent, which then ends its regions in order.
      detached: true,
    });
    const first = await firstMessage(child);
    if (first.kind === 'ready') return new RegionProcess(config.region, child, first.addresses);
    child.kill('SIGKILL');
    throw new Error(
      `${config.region} cannot start: ${first.kind === 'failed' ? first.reason : first.kind}`,
    );
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Calls back with how the process ended, once it has. */
  onEnd(callback: (how: string) => void): void {
    this.#child.once('exit', (code, signal) => callback(howOf(code, signal)));
  }

  /** Settles once its transceivers are in the edge's roster. */
  async join(): Promise<void> {
    await this.#ask('join');
  }

  relayCounters(): Promise<RelayCounters> {
    return this.#ask('relayCounters');
  }

  dump(): Promise<RegionDump> {
    return this.#ask('dump');
  }

  async restartRelay(): Promise<void> {
    await this.#ask('restartRelay');
  }

  /** Ends it in order; kills it when it takes too long. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }

  #ask<Q extends RegionQuestion>(ask: Q): Promise<RegionAnswers[Q]> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, ask } satisfies RegionRequest, (error) => {
        if (error) this.#refuse(id, new Error(`${this.name} cannot be asked: ${error.message}`));
      });
    });
  }

  #onMessage(message: RegionMessage): void {
    if (message.kind === 'answer') {
      this.#waiting.get(message.id)?.resolve(message.answer);
      this.#waiting.delete(message.id);
    } else if (message.kind === 'refusal') {
      this.#refuse(message.id, new Error(`${this.name} refused: ${message.reason}`));
    }
  }

  #refuse(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
  }

  #refuseAll(error: Error): void {
    for (const id of this.#waiting.keys()) this.#refuse(id, error);
  }
}

/** What the process says first, ready or failed; its end counts as failed. */
function firstMessage(child: ChildProcess): Promise<RegionMessage> {
  return new Promise((resolve) => {
    child.once('message', (message: RegionMessage) => resolve(message));
    child.once('error', (error) => resolve({ kind: 'failed', reason: error.message }));
    child.once('exit', (code, signal) => {
      resolve({ kind: 'failed', reason: `its process ended ${howOf(code, signal)}` });
    });
  });
}

function howOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ? `by ${signal}` : `with exit code ${code}`;
}
