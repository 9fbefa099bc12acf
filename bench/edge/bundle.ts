/** The edge as a deployment would upload it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface BundleModule {
  readonly type: 'ESModule' | 'Text';
  readonly path: string;
  readonly contents: string;
}

export interface Bundle {
  /** The entry point first. */
  readonly modules: readonly BundleModule[];
  /** Bytes of all modules after gzip. */
  readonly gzipped: number;
}

export async function bundleEdge(): Promise<Bundle> {
  const directory = await mkdtemp(join(tmpdir(), 'edge-bundle-'));
  try {
    const args = ['deploy', '--dry-run', '--outdir', directory];
    const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' };
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/wrangler'), args, { cwd: ROOT, env });
    const names = (await readdir(directory)).filter((name) => /\.(?:js|txt)$/.test(name));
    const modules = await Promise.all(
      names.toSorted(indexFirst).map(async (path): Promise<BundleModule> => {
        const contents = await readFile(join(directory, path), 'utf8');
        return { type: path.endsWith('.js') ? 'ESModule' : 'Text', path, contents };
      }),
    );
    const sizes = modules.map(({ contents }) => gzipSync(contents, { level: 9 }).length);
    return { modules, gzipped: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    await rm(directory, { recursive: true });
  }
}

function indexFirst(a: string, b: string): number {
  return Number(b === 'index.js') - Number(a === 'index.js');
}
