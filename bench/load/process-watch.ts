/** What the processes of a load use over time, each with all that it started. */
import { setTimeout as delay } from 'node:timers/promises';
import { readFile, readdir } from 'node:fs/promises';
import { cpuTime, residentBytes } from '../relay/process-facts.ts';
import { growthRate } from './growth.ts';

/** Milliseconds between two looks. */
const INTERVAL = 10_000;

export interface ProcessUse {
  /** Share of one processor while it was watched. */
  readonly cores: number;
  /** Megabytes of resident memory, every 10 s. */
  readonly residentMB: readonly number[];
  /** Growth of resident memory in bytes a minute over the last half. */
  readonly growth: number;
}

interface Sample {
  /** Minutes. */
  readonly at: number;
  readonly resident: number;
}

export class ProcessWatch implements AsyncDisposable {
  readonly #pids: Readonly<Record<string, number>>;
  readonly #samples = new Map<string, Sample[]>();
  readonly #cpuBefore = new Map<string, number>();
  readonly #start = performance.now();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(pids: Readonly<Record<string, number>>) {
    this.#pids = pids;
  }

  /** @param pids By the name that figures have. */
  static async start(pids: Readonly<Record<string, number>>): Promise<ProcessWatch> {
    const watch = new ProcessWatch(pids);
    for (const [name, pid] of Object.entries(pids)) watch.#cpuBefore.set(name, await treeCpu(pid));
    watch.#running = watch.#run();
    return watch;
  }

  /** What was used until now. */
  async stop(): Promise<Record<string, ProcessUse>> {
    await this[Symbol.asyncDispose]();
    await this.#look();
    const elapsed = (performance.now() - this.#start) * 1000;
    const uses: Record<string, ProcessUse> = {};
    for (const [name, pid] of Object.entries(this.#pids)) {
      const samples = this.#samples.get(name) ?? [];
      const half = samples.slice(Math.floor(samples.length / 2));
      uses[name] = {
        cores: ((await treeCpu(pid)) - this.#cpuBefore.get(name)!) / elapsed,
        residentMB: samples.map(({ resident }) => Math.round(resident / 1e5) / 10),
        growth: growthRate(half.map(({ at, resident }) => [at, resident])),
      };
    }
    return uses;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look();
      await delay(INTERVAL, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    for (const [name, pid] of Object.entries(this.#pids)) {
      const tree = await treeOf(pid);
      const resident = await Promise.all(tree.map((it) => residentBytes(it)));
      const samples = this.#samples.get(name) ?? [];
      const at = (performance.now() - this.#start) / 60_000;
      samples.push({ at, resident: resident.reduce((sum, bytes) => sum + bytes, 0) });
      this.#samples.set(name, samples);
    }
  }
}

async function treeCpu(pid: number): Promise<number> {
  const times = await Promise.all((await treeOf(pid)).map((it) => cpuTime(it)));
  return times.reduce((sum, time) => sum + time, 0);
}

/** Process ids of a process and of all that it started. */
async function treeOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1')),
  );
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(children.map(treeOf))).flat()];
}
