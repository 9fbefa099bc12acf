/**
 * The image of origins, without a container engine: the steps of its Dockerfile are done in a folder, and
 * both processes run there. What an engine adds, the base and the isolation, is not tested.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { OriginProcess } from '../origin/testing/origin-process.ts';
import { RELAY_CONFIG_VARIABLE, type RelayConfigInput } from '../origin/relay-config.ts';
import {
  TRANSCEIVER_CONFIG_VARIABLE,
  type TransceiverConfigInput,
} from '../origin/transceiver-config.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const dockerfile = await readFile(`${ROOT}origin/Dockerfile`, 'utf8');
const ignored = await readFile(`${ROOT}origin/Dockerfile.dockerignore`, 'utf8');

const ROUTING_KEYS = `A:${Buffer.alloc(16, 'routing').toString('base64')}`;

/** Instructions of the last stage and of those before it. */
const stages = dockerfile
  .split(/^(?=FROM )/m)
  .slice(1)
  .map((stage) => stage.match(/^[A-Z]+ .*$/gm)!.map((line) => line.split(/ (.*)/s).slice(0, 2)));
const instructions = (stage: number, name: string): string[] =>
  stages[stage]!.filter(([instruction]) => instruction === name).map(([, rest]) => rest!);
const folders = ignored.match(/^!(?!package).+$/gm)!.map((line) => line.slice(1));
const patterns = ignored.match(/^(\*\*\/|origin\/).+$/gm)!;

let image: string;
beforeAll(async () => {
  image = await mkdtemp(join(tmpdir(), 'image-'));
  for (const file of ['package.json', 'package-lock.json'])
    await cp(ROOT + file, join(image, file));
  const [npm, ...args] = instructions(0, 'RUN')[0]!.split(' ');
  // What was installed to run this test is in npm's cache.
  await run(npm!, [...args, '--prefer-offline'], { cwd: image });
  for (const folder of folders) {
    const filter = (path: string): boolean => !isIgnored(relative(ROOT, path));
    await cp(ROOT + folder, join(image, folder), { recursive: true, filter });
  }
});
afterAll(() => rm(image, { recursive: true }));

function isIgnored(path: string): boolean {
  return patterns.some((pattern) => {
    const end = pattern.replace(/^\*\*\/\*?/, '');
    return pattern.startsWith('**') ? path.endsWith(end) : path === pattern;
  });
}

function inImage(path: string, variable: string, config: object, port: number): OriginProcess {
  const env = { [variable]: JSON.stringify(config), REDIS_URL: '' };
  return new OriginProcess({ path: join(image, path), env, admin: { address: LOOPBACK, port } });
}

/** The exit code of the health check. */
async function health(port: number): Promise<number> {
  const env = { ...process.env, ADMIN_URL: `http://${LOOPBACK}:${port}` };
  const check = join(image, 'origin/health-check.ts');
  return run(process.execPath, [check], { env }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

const at = (port: number | undefined) => ({ address: LOOPBACK, port: port! });

describe('the image', () => {
  test('has the Node that tests run with, no root, and ends as supervisors expect', async () => {
    const { devDependencies } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
    for (const [from] of stages) {
      expect(from![1]).toMatch(new RegExp(`^node:${devDependencies.node}-bookworm-slim\\b`));
    }
    expect(instructions(1, 'USER')).toEqual(['1000:1000']);
    expect(instructions(1, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(instructions(1, 'RUN').join()).not.toContain('npm ci');
  });

  test('copies no more than it lets in', () => {
    const copied = [0, 1].flatMap((stage) => instructions(stage, 'COPY'));
    const sources = copied
      .filter((copy) => !copy.startsWith('--from'))
      .flatMap((copy) => copy.split(' ').slice(0, -1));
    expect(new Set(sources)).toEqual(new Set(['package.json', 'package-lock.json', ...folders]));
  });

  test('runs a relay, tells of its health, and lets it drain', async () => {
    const ports = await choosePorts({
      listener: { protocol: 'udp' },
      trunk: { protocol: 'udp' },
      admin: { protocol: 'tcp' },
    });
    const config: RelayConfigInput = {
      cluster: 1,
      relay: { listeners: [at(ports.listener)], trunk: at(ports.trunk) },
      peers: ['127.0.0.0/8'],
      routingKeys: ROUTING_KEYS,
      admin: at(ports.admin),
      drain: { time: 0 },
    };
    expect(await health(ports.admin!)).toBe(1);
    const [command] = v.parse(v.array(v.string()), JSON.parse(instructions(1, 'CMD')[0]!));
    const relay = inImage(command!, RELAY_CONFIG_VARIABLE, config, ports.admin!);
    await relay.ready();
    expect(await health(ports.admin!)).toBe(0);
    relay.signal('SIGTERM');
    expect(await relay.ended).toBe(0);
  });

  test('runs a transceiver by another command', async () => {
    const ports = await choosePorts({
      trunk: { protocol: 'udp' },
      signaling: { protocol: 'tcp' },
      admin: { protocol: 'tcp' },
    });
    const config: TransceiverConfigInput = {
      cluster: 1,
      id: 1,
      trunk: at(ports.trunk),
      peers: ['127.0.0.0/8'],
      signaling: at(ports.signaling),
      // Nobody is there, which costs a process that serves nothing.
      edge: 'http://127.0.0.1:9',
      backend: 'parrot',
      routingKeys: ROUTING_KEYS,
      signingKey: Buffer.alloc(32, 'signing').toString('base64'),
      admin: at(ports.admin),
    };
    const path = 'origin/transceiver-process.ts';
    const transceiver = inImage(path, TRANSCEIVER_CONFIG_VARIABLE, config, ports.admin!);
    await transceiver.ready();
    expect(await health(ports.admin!)).toBe(0);
    transceiver.signal('SIGTERM');
    expect(await transceiver.ended).toBe(0);
  });
});
