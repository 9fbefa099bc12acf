/** Datagrams that the kernel dropped because a socket's buffer was full, by process. Linux. */
import { readFile, readdir, readlink } from 'node:fs/promises';

/** Sums over the UDP sockets over IPv4 that each process has open. @param pids By name. */
export async function udpDrops(
  pids: Readonly<Record<string, number>>,
): Promise<Record<string, number>> {
  const byInode = readDrops(await readFile('/proc/net/udp', 'latin1'));
  const drops: Record<string, number> = {};
  for (const [name, pid] of Object.entries(pids)) {
    const inodes = await socketInodes(pid);
    drops[name] = inodes.reduce((sum, inode) => sum + (byInode.get(inode) ?? 0), 0);
  }
  return drops;
}

/** Of a table like /proc/net/udp, the drops of each socket by its inode. */
function readDrops(table: string): Map<string, number> {
  const rows = table.trim().split('\n').slice(1);
  return new Map(
    rows.map((row) => {
      const fields = row.trim().split(/\s+/);
      return [fields[9]!, Number(fields[12])] as const;
    }),
  );
}

async function socketInodes(pid: number): Promise<string[]> {
  const files = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')),
  );
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}
