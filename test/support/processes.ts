/** The processes that came from one. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import process from 'node:process';
import { promisify } from 'node:util';

/** Process ids of all that came from one, and its own. */
export async function descendants(pid: number): Promise<number[]> {
  const pairs = existsSync('/proc/self/stat') ? await pairsFromProc() : await pairsFromPs();
  const family = [pid];
  for (const parent of family) {
    for (const [child, of] of pairs) if (of === parent) family.push(child);
  }
  return family;
}

/** Every process id with its parent's; a slim Debian has no ps. */
async function pairsFromProc(): Promise<[number, number][]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end between the two reads; then it has no line.
  const stats = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')),
  );
  return stats.flatMap((stat) => {
    const match = /^(\d+) \(.*\) \S (\d+) /s.exec(stat);
    return match ? [[Number(match[1]), Number(match[2])] as [number, number]] : [];
  });
}

async function pairsFromPs(): Promise<[number, number][]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=']);
  return [...stdout.matchAll(/(\d+)\s+(\d+)/g)].map(([, pid, of]) => [Number(pid), Number(of)]);
}

/** False once it has ended. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
