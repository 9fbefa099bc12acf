/** Builds what is measured and what measures, from source, in a folder that goes with the process. */
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SOURCES = import.meta.dirname;
const NGINX_STREAM = '/usr/lib/nginx/modules/ngx_stream_module.so';

export interface Built {
  readonly folder: string;
  readonly load: string;
  readonly loop: string;
  /** Undefined without Go. */
  readonly go: string | undefined;
  /** Undefined without nginx and its stream module. */
  readonly nginx: string | undefined;
  readonly coturn: string | undefined;
}

export async function buildAll(resources: AsyncDisposableStack): Promise<Built> {
  const folder = resources.use(await mkdtempDisposable(join(tmpdir(), 'relay-bench-'))).path;
  const [load, loop, go] = ['load', 'loop', 'go-relay'].map((name) => join(folder, name));
  await compile(join(SOURCES, 'load.c'), load!);
  await compile(join(SOURCES, 'peers/c/loop.c'), loop!);
  const hasGo = await works('go', 'version');
  if (hasGo) await run('go', ['build', '-o', go!, '.'], { cwd: join(SOURCES, 'peers/go') });
  const hasNginx = await works('nginx', '-v');
  const hasCoturn = await works('turnserver', '--version');
  return {
    folder,
    load: load!,
    loop: loop!,
    go: hasGo ? go : undefined,
    nginx: hasNginx ? 'nginx' : undefined,
    coturn: hasCoturn ? 'turnserver' : undefined,
  };
}

/** One worker that passes on whatever one client sends, from a port of its own, and back. */
export async function writeNginxConfig(
  folder: string,
  port: number,
  transceiver: number,
): Promise<string> {
  const path = join(folder, `nginx-${port}.conf`);
  await writeFile(
    path,
    `load_module ${NGINX_STREAM};
daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 65536;
pid ${folder}/nginx-${port}.pid; error_log ${folder}/nginx-${port}.log warn;
events { worker_connections 16384; }
stream {
  server {
    listen 127.0.0.1:${port} udp rcvbuf=8m sndbuf=8m;
    proxy_pass 127.0.0.1:${transceiver};
    proxy_timeout 60s;
  }
}
`,
  );
  return path;
}

/** @throws Error when there is no C compiler. */
export async function compile(source: string, program: string): Promise<void> {
  try {
    await run('cc', ['-O2', '-o', program, source]);
  } catch (error) {
    throw new Error('The bench needs a C compiler named cc; install gcc or clang.', {
      cause: error,
    });
  }
}

async function works(command: string, argument: string): Promise<boolean> {
  try {
    await run(command, [argument]);
    return true;
  } catch {
    return false;
  }
}
