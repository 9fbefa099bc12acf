/** One measurement: a relay on one processor, its load on another. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cpuTime, residentBytes } from './process-facts.ts';
import { LOAD_CPU, freePorts, type Ports, type Subject } from './subjects.ts';

export interface Load {
  readonly mode: 'up' | 'down' | 'echo';
  readonly flows: number;
  /** Packets a second; 0 for as many as can be. */
  readonly rate: number;
  readonly seconds: number;
  /** Bytes of a packet. */
  readonly payload: number;
  /** Down frames are joined into datagrams of up to so many bytes. */
  readonly join?: number;
  /** Packets of one client that follow each other. */
  readonly burst?: number;
  /** Forged checks a second besides. */
  readonly flood?: number;
}

/** What a relay sends on: frames of the trunk, clients' packets as they are, or TURN's channel data. */
export type Protocol = 'trunk' | 'raw' | 'turn';

/** What the load saw; latencies in microseconds, there and back. */
interface LoadResult {
  readonly seconds: number;
  readonly sent: number;
  readonly up: number;
  readonly down: number;
  readonly datagrams: number;
  readonly flooded: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Measurement {
  /** Packets a second that came out. */
  readonly rate: number;
  /** Packets a second that were sent in. */
  readonly offered: number;
  /** Of the relay, in microseconds. */
  readonly cpuPerPacket: number;
  /** Of one processor. */
  readonly cpuShare: number;
  /** Packets lost, of those sent. */
  readonly loss: number;
  /** Microseconds, there and back through relay and transceiver. */
  readonly p50: number;
  readonly p99: number;
  /** Garbage collections while measured, and the longest one in milliseconds; 0 for peers. */
  readonly collections: number;
  readonly longestCollection: number;
  /** Megabytes of memory that the relay grew by while measured. */
  readonly grownMB: number;
}

/** Attempts to start a peer, which says nothing when it is ready, and the time between them. */
const START_TIME = 700;

export async function measure(
  program: string,
  ufrags: string,
  subject: Subject,
  load: Load,
): Promise<Measurement> {
  const ports = await freePorts();
  const [command, ...args] = await subject.command(ports);
  const relay = spawn('taskset', ['-c', subject.cpus, command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const collections = watchCollections(relay);
    await started(relay, command === process.execPath);
    return await runLoad(program, ufrags, subject, load, ports, relay.pid!, collections);
  } finally {
    relay.kill('SIGKILL');
    if (relay.exitCode === null && relay.signalCode === null) await once(relay, 'exit');
  }
}

async function runLoad(
  program: string,
  ufrags: string,
  subject: Subject,
  load: Load,
  ports: Ports,
  pid: number,
  collections: number[],
): Promise<Measurement> {
  const { protocol } = subject;
  const form = { raw: protocol === 'trunk' ? 0 : 1, turn: protocol === 'turn' ? 1 : 0 };
  const options = Object.entries({ ...load, ...form }).map(([k, v]) => `${k}=${v}`);
  const fixed = [String(ports.relay), String(ports.transceiver), ufrags];
  const child = spawn('taskset', ['-c', LOAD_CPU, program, ...fixed, ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { value: ready } = await lines.next();
  if (ready !== 'ready') throw new Error(`The load of "${subject.name}" did not get through.`);
  collections.length = 0;
  const memoryBefore = await residentBytes(pid);
  const before = await cpuTime(pid);
  child.stdin.end('go\n');
  const { value: line } = await lines.next();
  const cpu = (await cpuTime(pid)) - before;
  const result: LoadResult = JSON.parse(line ?? '');
  const out = load.mode === 'up' ? result.up : result.down;
  return {
    rate: out / result.seconds,
    offered: result.sent / result.seconds,
    cpuPerPacket: cpu / out,
    cpuShare: cpu / 1e6 / result.seconds,
    loss: Math.max(0, 1 - out / result.sent),
    p50: result.p50,
    p99: result.p99,
    collections: collections.length,
    longestCollection: Math.max(0, ...collections),
    grownMB: ((await residentBytes(pid)) - memoryBefore) / 1e6,
  };
}

/** Collects the pauses that --trace-gc tells, in milliseconds. */
function watchCollections({ stdout }: ChildProcess): number[] {
  const pauses: number[] = [];
  if (!stdout) return pauses;
  createInterface(stdout).on('line', (line) => {
    const pause = / MB, (?:pooled: \S+ MB, )?([\d.]+) \/ /.exec(line)?.[1];
    if (pause) pauses.push(Number(pause));
  });
  return pauses;
}

async function started(child: ChildProcess, says: boolean): Promise<void> {
  if (!says) {
    await new Promise((passed) => setTimeout(passed, START_TIME));
  } else {
    await new Promise<void>((ready, failed) => {
      child.stdout!.on('data', (text: Buffer) => {
        if (text.toString().includes('ready')) ready();
      });
      child.once('exit', () => failed(new Error('The relay ended before it was ready.')));
    });
  }
  if (child.exitCode !== null) throw new Error('A relay ended before it was measured.');
}
