/** Every command of README.md, SECURITY.md and docs/ does what it says there. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { choosePorts } from '../local/ports.ts';
import { startStack } from '../local/stack.ts';
import { DEMO_ADMIN_KEY, DEMO_API_KEY } from '../local/tenants.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys } from '../protocol/signature.ts';
import { hashApiKey, tenantOfKey } from '../workers/api-keys.ts';
import { parseClientSecretKeys } from '../workers/client-secrets.ts';
import { OFFER, postOffer } from './support/offers.ts';
import { descendants, isAlive } from './support/processes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Milliseconds until what is awaited counts as never coming. */
const PATIENCE = 90_000;

interface Package {
  readonly scripts: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

const pages = await Promise.all(
  [
    'README.md',
    'SECURITY.md',
    ...(await readdir(`${ROOT}docs`))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ].map((name) => readFile(ROOT + name, 'utf8')),
);
const manifest: Package = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));

/** A key, and its hash. */
const PRINT_KEY = `echo "$key"; printf %s "$key" | sha256sum | cut -d ' ' -f 1`;

/** What proves each command; the ones that cannot run inside a test say why. */
const PROOFS: Readonly<Record<string, (command: string) => Promise<void>>> = {
  // This very test runs out of what the command installed; a second install would shake its ground.
  'npm install': async () => {
    const lock = JSON.parse(await readFile(`${ROOT}package-lock.json`, 'utf8'));
    const { dependencies, devDependencies } = manifest;
    expect(lock.packages['']).toMatchObject({ dependencies, devDependencies });
    for (const version of Object.values({ ...dependencies, ...devDependencies })) {
      expect(version).toMatch(EXACT_VERSION);
    }
  },
  // It is what runs this test.
  'npm test': async () => expectScript('test'),
  // The checks are no tests; the continuous integration runs them beside these.
  'npm run check': async () => expectScript('check'),
  'npm run simulate': proveSimulate,
  'npm run cost': proveCost,
  // It takes minutes; test/soak.test.ts runs a slice of it.
  'npm run soak': async () => expectScript('soak'),
  // The same with test/load.test.ts.
  'npm run load': async () => expectScript('load'),
  // The same with test/drills.test.ts.
  'npm run drills': async () => expectScript('drills'),
  'npm run region -- check': proveRegionCheck,
  'npm run k8s': proveKubernetes,
  'npm run ops -- help': async (command) => {
    expect(await shell(command)).toContain('npm run ops -- probe URL');
  },
  'npm run ops -- probe http://localhost:8787': proveOps,
  'npm run ops -- drops --once': proveOps,
  // test/supply-chain.test.ts reads what it prints.
  'npm run --silent sbom': async () => expectScript('sbom'),
  'npm start': proveStart,
  'npm start -- --check': proveCheck,
  'curl http://localhost:8787/v1/where': proveWhere,
  [`curl -X POST -H "Authorization: Bearer ${DEMO_API_KEY}" http://localhost:8787/v1/realtime/client_secrets`]:
    proveSecret,
  [`curl -H "Authorization: Bearer ${DEMO_ADMIN_KEY}" http://localhost:8787/admin/clusters`]:
    proveAdmin,
  'echo "A:$(openssl rand -base64 16)"': (command) => proveKey(command, parseRoutingKeys),
  'openssl rand -base64 32': (command) => proveKey(command, parseSigningKeys),
  'openssl rand -hex 32': async (command) => {
    expect(await shell(command)).toMatch(new RegExp(await redisTokenPattern()));
  },
  'echo "B:$(openssl rand -base64 32)"': (command) => proveKey(command, parseClientSecretKeys),
  [`key="$(openssl rand -base64 32)"; ${PRINT_KEY}`]: async (command) => {
    expect((await hashed(command)).length).toBeGreaterThan(40);
  },
  [`key="sk_acme_$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')"; ${PRINT_KEY}`]: async (
    command,
  ) => {
    expect(tenantOfKey(await hashed(command))).toBe('acme');
  },
  'npx wrangler deploy --dry-run --outdir dist/worker': proveBundle,
};

// Blocks in lists are indented.
const commands = [...pages.join('\n').matchAll(/^ *```sh\n(.*?)^ *```/gms)]
  .flatMap(([, block]) => block!.trim().split(/\n|&&/))
  .map((command) => command.trim());

describe('the documents', () => {
  test('have no command that is not proven here, and the other way round', () => {
    expect([...new Set(commands)].toSorted()).toEqual(Object.keys(PROOFS).toSorted());
  });

  test.each(Object.entries(PROOFS))('%s', async (command, prove) => {
    await expect(prove(command)).resolves.toBeUndefined();
  });
});

/** The script is there, and every tool it names is installed. */
function expectScript(name: string): void {
  const script = manifest.scripts[name];
  expect(script).toBeDefined();
  for (const step of script!.split('&&').map((text) => text.trim())) {
    const [tool, run, inner] = step.replace(/^exec /, '').split(' ');
    if (tool === 'npm' && run === 'run') expectScript(inner!);
    else if (tool !== 'npm') expect(existsSync(`${ROOT}node_modules/.bin/${tool}`)).toBe(true);
  }
}

/** An overlay for each region; that they are good is tested where they are. */
async function proveKubernetes(): Promise<void> {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'k8s'], { cwd: ROOT });
  expect(stdout.split('\n')).toContain('kubectl apply --kustomize dist/k8s/us-east-1');
}

async function proveRegionCheck(): Promise<void> {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'region', '--', 'check'], {
    cwd: ROOT,
  });
  expect(stdout).toMatch(/^\d+ regions? fits? together\.\n$/m);
}

/** One line for the footprint as it is, and one without each region. */
async function proveSimulate(): Promise<void> {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'simulate'], {
    cwd: ROOT,
  });
  const lines = stdout.trimEnd().split('\n').slice(1);
  const regions = ['us-east-1', 'eu-central-1', 'ap-northeast-1'];
  const starts = ['as it is', ...regions.map((region) => `without ${region}`)];
  expect(lines).toEqual(starts.map((start) => expect.stringContaining(start)));
}

/** A month of each region, and each million minutes; that the figures are right is tested where they are. */
async function proveCost(): Promise<void> {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'cost'], { cwd: ROOT });
  for (const region of ['us-east-1', 'eu-central-1', 'ap-northeast-1']) {
    expect(stdout.match(new RegExp(`^${region} +[1-9]\\d* = `, 'gm'))).toHaveLength(2);
  }
}

/** What terraform/ takes as the token of Redis. */
async function redisTokenPattern(): Promise<string> {
  const variables = await readFile(`${ROOT}terraform/variables.tf`, 'utf8');
  return /regex\("([^"]+)", var\.secrets\.redis_auth\)/.exec(variables)![1]!;
}

/** Ready, serving the page, and after Ctrl-C all of it gone. */
async function proveStart(): Promise<void> {
  const npm = npmStart([]);
  const url = await openedUrl(npm);
  const lines = npm.stdout().split('\n');
  expect(lines).toContain('Starting…');
  for (const service of ['edge', 'us-east-1', 'eu-central-1', 'ap-northeast-1']) {
    expect(lines.filter((line) => line.startsWith(`${service} `))).toHaveLength(1);
  }
  const page = await fetch(url);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(await page.text()).toContain('Talk');

  const family = await descendants(npm.process.pid!);
  expect(family.length).toBeGreaterThanOrEqual(5);
  // As a terminal does it: to the whole group in the foreground.
  process.kill(-npm.process.pid!, 'SIGINT');
  expect(await npm.ended).toBe(0);
  expect(npm.stderr()).toBe('');
  await vi.waitFor(() => expect(family.filter(isAlive)).toEqual([]), { timeout: PATIENCE });
  const udp = [...npm.stdout().matchAll(/:(\d+)\/udp/g)].map(([, port]) => Number(port));
  const tcp = [...npm.stdout().matchAll(/http:\/\/[\w.]+:(\d+)/g)].map(([, port]) => Number(port));
  expect([udp.length, new Set(tcp).size]).toEqual([3, 7]);
  await expectFree('udp', udp);
  await expectFree('tcp', tcp);
}

/** One row of timings per region. */
async function proveCheck(): Promise<void> {
  const npm = npmStart(['--', '--check']);
  const code = await npm.ended;
  expect(npm.stderr()).toBe('');
  expect(npm.stdout()).toContain('3 of 3 calls got through.');
  const rows = /^region .*\n((?:.+\n)+)/m.exec(npm.stdout())![1]!.trimEnd().split('\n');
  const names = rows.map((row) => row.split(' ')[0]);
  expect(names).toEqual(['us-east-1', 'eu-central-1', 'ap-northeast-1']);
  expect(code).toBe(0);
}

/** Names a region; on another port, for this one may be someone's. */
async function proveWhere(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const running = await startStack();
  stack.defer(() => running.close());
  const response = await fetch(`${running.edge}/v1/where`);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect([...running.regions.keys()].some((name) => text.includes(name))).toBe(true);
}

/** Gives a secret that the edge takes an offer with. */
async function proveSecret(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const running = await startStack();
  stack.defer(() => running.close());
  const { edge } = running;
  const headers = { authorization: `Bearer ${DEMO_API_KEY}` };
  const minted = await fetch(`${edge}/v1/realtime/client_secrets`, { method: 'POST', headers });
  expect(minted.status).toBe(200);
  const { value } = v.parse(v.object({ value: v.string() }), await minted.json());
  const answer = await postOffer(edge, OFFER, { authorization: `Bearer ${value}` });
  expect(answer.status).toBe(201);
  const unknown = await postOffer(edge, OFFER, { authorization: `Bearer ${value}x` });
  expect(unknown.status).toBe(401);
}

/** Asks a real run, which may be on another port. */
async function proveAdmin(command: string): Promise<void> {
  const npm = npmStart([]);
  const url = await openedUrl(npm);
  const { clusters } = JSON.parse(await shell(command.replace('http://localhost:8787', url)));
  expect(clusters).toContainEqual(expect.objectContaining({ region: 'us-east-1' }));
  process.kill(-npm.process.pid!, 'SIGINT');
  expect(await npm.ended).toBe(0);
}

/** Asks a whole system on other ports, for these may be someone's. */
async function proveOps(command: string): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const running = await startStack();
  stack.defer(() => running.close());
  const { admin } = [...running.regions.values()][0]!;
  const said = command.endsWith('drops --once')
    ? await shell(`${command} --relay ${admin}`)
    : await shell(command.replace('http://localhost:8787', running.edge));
  expect(said).toMatch(/^ok: http|no drops; from clients 0 since it started$/m);
}

async function shell(command: string): Promise<string> {
  return (await promisify(execFile)('bash', ['-c', command], { cwd: ROOT })).stdout.trimEnd();
}

/** Prints what the program that needs it can read. */
async function proveKey(command: string, parse: (text: string) => unknown): Promise<void> {
  expect(parse(await shell(command))).toHaveLength(1);
}

/** The key that it prints, with its hash as the edge makes it. */
async function hashed(command: string): Promise<string> {
  const [key, hash] = (await shell(command)).split('\n');
  expect(hash).toBe(hashApiKey(key!));
  return key!;
}

/** Writes a script with the roster's class, and no other module, for Terraform uploads one file. */
async function proveBundle(): Promise<void> {
  const folder = await mkdtemp(`${tmpdir()}/edge-`);
  onTestFinished(() => rm(folder, { recursive: true }));
  await shell(`npx wrangler deploy --dry-run --outdir ${folder}`);
  const files = await readdir(folder);
  expect(files.toSorted()).toEqual(['README.md', 'index.js', 'index.js.map']);
  expect(await readFile(`${folder}/index.js`, 'utf8')).toMatch(/export\{.*\bRoster\b/);
}

function npmStart(args: readonly string[]) {
  // A group of its own stands for the terminal's foreground, and keeps signals from this test.
  const child = spawn('npm', ['start', ...args], { cwd: ROOT, detached: true });
  onTestFinished(() => kill(child));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const ended = once(child, 'exit').then(([code]) => code as unknown);
  return { process: child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** Waits until it runs. */
async function openedUrl(npm: ReturnType<typeof npmStart>): Promise<string> {
  await vi.waitFor(() => expect(npm.stdout()).toContain('Ctrl-C ends everything'), {
    timeout: PATIENCE,
  });
  return /Open (\S+) /.exec(npm.stdout())![1]!;
}

function kill(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
}

async function expectFree(protocol: 'udp' | 'tcp', ports: readonly number[]): Promise<void> {
  for (const wanted of ports) {
    expect(await choosePorts({ port: { protocol, wanted } })).toEqual({ port: wanted });
  }
}
