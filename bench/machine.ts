/** What a figure was measured on, without which it says little. */
import { readFile } from 'node:fs/promises';
import os from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  /** Mean number of busy processes over the last minute, as the measurement began. */
  readonly load: number;
  readonly virtual: boolean;
}

export async function machineFacts(): Promise<Machine> {
  const cpuinfo = await readFile('/proc/cpuinfo', 'latin1').catch(() => '');
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cpus: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    kernel: os.release(),
    node: process.version,
    load: os.loadavg()[0]!,
    virtual: /\bhypervisor\b/.test(cpuinfo),
  };
}
