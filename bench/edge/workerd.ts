/**
 * workerd alone with one Worker: neither Miniflare's entry Worker nor its stand-ins for bindings, which would
 * take more time than what is measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { BundleModule } from './bundle.ts';

/** Path of the binary; the package has no types. */
const WORKERD: string = createRequire(import.meta.url)('workerd').default;

/** As in wrangler.toml. */
const COMPATIBILITY_DATE = '2026-11-17';

/** The header in which a request tells its `request.cf`. */
export const CF_HEADER = 'cf-blob';

export interface WorkerdOptions {
  /** Of the Worker, its entry point first. */
  readonly modules: readonly BundleModule[];
  readonly texts: Readonly<Record<string, string>>;
  readonly jsons: Readonly<Record<string, unknown>>;
  /** Address and port that each KV namespace is read from. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Names of rate limits, which let everything through. */
  readonly limits: readonly string[];
  /** Names of data sets, which keep nothing. */
  readonly dataSets: readonly string[];
  /** Durable Objects by the names of their bindings. */
  readonly objects: Readonly<Record<string, string>>;
}

export interface Workerd {
  readonly pid: number;
  readonly url: URL;
  close(): Promise<void>;
}

export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const directory = await mkdtemp(join(tmpdir(), 'workerd-'));
  await mkdir(join(directory, 'objects'));
  const files = options.modules.map(({ path, contents }) =>
    writeFile(join(directory, path), contents),
  );
  await Promise.all([
    ...files,
    writeFile(join(directory, 'config.capnp'), configOf(directory, options)),
  ]);
  const child = spawn(WORKERD, ['serve', 'config.capnp', '--control-fd=3'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit');
  // It keeps nothing, and would wait for requests that nobody answers any more.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const close = async () => {
    kill();
    process.off('exit', kill);
    await ended;
    await rm(directory, { recursive: true });
  };
  const control = child.stdio[3];
  if (!(control instanceof Readable)) throw new Error('workerd has no control pipe');
  for await (const line of createInterface({ input: control })) {
    const { socket, port } = JSON.parse(line);
    if (socket === 'http')
      return { pid: child.pid!, url: new URL(`http://127.0.0.1:${port}`), close };
  }
  await close();
  throw new Error('workerd ended before it listened');
}

function configOf(directory: string, options: WorkerdOptions): string {
  const { modules, texts, jsons, namespaces, limits, dataSets, objects } = options;
  const services = Object.entries(namespaces).map(
    ([name, address]) =>
      `(name = ${text(name)}, external = (address = ${text(address)}, http = ()))`,
  );
  const bindings = [
    ...Object.entries(texts).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...Object.entries(jsons).map(
      ([name, value]) => `(name = ${text(name)}, json = ${text(JSON.stringify(value))})`,
    ),
    ...Object.keys(namespaces).map((name) => `(name = ${text(name)}, kvNamespace = ${text(name)})`),
    ...limits.map((name) => `(name = ${text(name)}, wrapped = (moduleName = "bench:limit"))`),
    ...dataSets.map((name) => `(name = ${text(name)}, wrapped = (moduleName = "bench:data-set"))`),
    ...Object.entries(objects).map(
      ([name, className]) => `(name = ${text(name)}, durableObjectNamespace = ${text(className)})`,
    ),
  ];
  const embedded = modules.map(
    ({ type, path }) =>
      `(name = ${text(path)}, ${type === 'ESModule' ? 'esModule' : 'text'} = embed ${text(path)})`,
  );
  const classes = Object.values(objects).map(
    (name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  logging = (structuredLogging = true),
  services = [
    (name = "edge", worker = (
      compatibilityDate = ${text(COMPATIBILITY_DATE)},
      modules = [${embedded.join(', ')}],
      bindings = [${bindings.join(', ')}],
      durableObjectNamespaces = [${classes.join(', ')}],
      durableObjectStorage = (localDisk = "objects")
    )),
    ${services.map((service) => `${service},`).join('\n    ')}
    (name = "objects", disk = (path = ${text(join(directory, 'objects'))}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (cfBlobHeader = ${text(CF_HEADER)}), service = "edge")],
  extensions = [(modules = [
    (
      name = "bench:limit",
      internal = true,
      esModule = "export default () => ({ limit: async () => ({ success: true }) });"
    ),
    (
      name = "bench:data-set",
      internal = true,
      esModule = "export default () => ({ writeDataPoint: () => undefined });"
    )
  ])]
);
`;
}

/** A string of Cap'n Proto is written as one of JSON. */
function text(value: string): string {
  return JSON.stringify(value);
}
