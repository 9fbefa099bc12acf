/** What a process has used of the machine, all its threads together. */
import { readFile, readdir } from 'node:fs/promises';

/** Processor time in microseconds, to the nanosecond where the kernel keeps schedstat. */
export async function cpuTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'latin1');
      return Number(text.split(' ')[0]) / 1000;
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
