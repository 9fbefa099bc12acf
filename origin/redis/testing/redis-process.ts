/** A real redis-server on a free port of loopback, to be stopped, paused and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Keeps nothing on disk, so that it is empty after a restart. */
const IN_MEMORY = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];

const POLL = 20;

export class RedisProcess implements AsyncDisposable {
  readonly port: number;
  #process: ChildProcess | undefined;

  /** One that does not run yet. */
  constructor(port: number) {
    this.port = port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Settles once it takes connections. */
  async start(): Promise<void> {
    const options = [...IN_MEMORY, '--port', String(this.port)];
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    while (!(await accepts(this.port))) {
      if (child.exitCode !== null) throw new Error(`redis-server has ended:\n${output}`);
      await delay(POLL);
    }
  }

  /** Kills it; what it held is gone. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** From now on it takes connections and answers nothing. */
  pause(): void {
    this.#process!.kill('SIGSTOP');
  }

  resume(): void {
    this.#process!.kill('SIGCONT');
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A TCP port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}
