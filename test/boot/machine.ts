/**
 * A machine of the footprint as far as its scripts see one: real Terraform renders its user data, whose files are
 * written under a root of its own and run there. The cloud's commands are stood in for, since no cloud can be had:
 * they answer as the cloud does, and what they are asked is recorded.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { parse } from 'yaml';
import { findProgram } from '../support/find-program.ts';
import { TERRAFORM } from '../support/optional-program.ts';

const run = promisify(execFile);
const BOOT = fileURLToPath(new URL('../../terraform/modules/region/boot', import.meta.url));

/** What the cloud keeps for machines. */
export const PARAMETERS: Readonly<Record<string, string>> = {
  '/keys': `A:${Buffer.alloc(16, 'routing').toString('base64')}`,
  '/signing': Buffer.alloc(32, 'signing').toString('base64'),
  '/backend': '{"realtime":"wss://voice.example/v1?a=1&b=2","apiKey":"s&cret"}',
  '/peers': '["10.1.0.0/17","10.2.0.0/17"]',
  '/routes':
    '[{"cluster":2,"region":"eu-central-1","relays":[{"address":"10.2.0.7","port":3479}]}]',
  '/redis': 'letters4nddigits',
  '/tunnel': 'eyJh',
};

/** A stand-in for curl: what it does for URLs that end so, beside giving a token for metadata. */
export function curlOf(answers: Readonly<Record<string, string>>): string {
  const cases = Object.entries(answers).map(([end, does]) => `*'${end}') ${does};;`);
  return `case "$*" in *-X*) echo token;; ${cases.join(' ')} *) exit 22;; esac`;
}
/** Of the machine, by its metadata. */
export const ADDRESS = { 'local-ipv4': 'echo 10.1.66.3' };

const COMMON = {
  region: 'us-east-1',
  cluster: 1,
  image: '1.dkr.ecr.us-east-1.amazonaws.com/origin@sha256:00',
  routing_keys_parameter: '/keys',
  redis_address: 'redis.example:6379',
  redis_auth_parameter: '/redis',
  log_group: '/global-relay',
  autoscaling_group: 'pool',
  lifecycle_hook: 'drain',
  drain_seconds: 60,
};
const RELAY = { ...COMMON, peers_parameter: '/peers', routes_parameter: '/routes' };
const TRANSCEIVER = {
  ...COMMON,
  tunnel_image: 'cloudflared@sha256:00',
  peers: ['10.1.0.0/17'],
  edge: 'https://voice.example',
  signing_key_parameter: '/signing',
  backend_parameter: '/backend',
  tunnel_token_parameter: '/tunnel',
};

export const CloudConfigSchema = v.object({
  packages: v.array(v.string()),
  runcmd: v.array(v.array(v.string())),
  write_files: v.array(
    v.object({ path: v.string(), encoding: v.optional(v.literal('gz+b64')), content: v.string() }),
  ),
});

/** The user data of relays and of transceivers, by the template's name. */
export async function render(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'boot-'));
  const boot = JSON.stringify(BOOT);
  const output = (role: string, values: object): string =>
    `output "${role}" {\n  value = templatefile("${BOOT}/${role}.yaml.tftpl", merge(${JSON.stringify(values)}, { files = { for f in fileset(${boot}, "*") : f => file("${BOOT}/\${f}") } }))\n}\n`;
  try {
    const text = output('relay', RELAY) + output('transceiver', TRANSCEIVER);
    await writeFile(join(folder, 'main.tf'), text);
    const terraform = findProgram(TERRAFORM.program)!;
    await run(terraform, ['apply', '-auto-approve', '-no-color'], { cwd: folder });
    const { stdout } = await run(terraform, ['output', '-json'], { cwd: folder });
    const outputs = v.parse(
      v.record(v.string(), v.object({ value: v.string() })),
      JSON.parse(stdout),
    );
    return Object.fromEntries(Object.entries(outputs).map(([role, { value }]) => [role, value]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

export class Machine implements AsyncDisposable {
  readonly root: string;
  /** Where its scripts keep what they write. */
  readonly state: string;
  readonly #log: string;
  readonly #userData: Readonly<Record<string, string>>;

  private constructor(root: string, userData: Readonly<Record<string, string>>) {
    this.root = root;
    this.state = join(root, 'run/global-relay');
    this.#log = join(root, 'said');
    this.#userData = userData;
  }

  /** One that can be told its address and its parameters, and on which nothing runs yet. */
  static async start(userData: Readonly<Record<string, string>>): Promise<Machine> {
    const machine = new Machine(await mkdtemp(join(tmpdir(), 'machine-')), userData);
    await machine.keepParameters(PARAMETERS);
    await machine.command('curl', curlOf(ADDRESS));
    await machine.command('systemctl', 'exit 3');
    await machine.command('chown', ':');
    return machine;
  }

  /** Stands in for a command, by lines of bash. */
  async command(name: string, body: string): Promise<void> {
    const path = join(this.root, 'bin', name);
    await mkdir(join(this.root, 'bin'), { recursive: true });
    await writeFile(path, `#!/bin/bash\n${body}\n`);
    await chmod(path, 0o755);
  }

  /** Lets the cloud have these parameters, and nothing else. */
  keepParameters(parameters: Readonly<Record<string, string>>): Promise<void> {
    const values = Object.entries(parameters).map(([name, value]) => `${name}) echo '${value}';;`);
    return this.command('aws', `case "$5" in ${values.join(' ')} *) exit 1;; esac`);
  }

  /** Notes what is asked of commands from now on, beside what else they do, by lines of bash for each. */
  async record(commands: Readonly<Record<string, string>>): Promise<void> {
    await writeFile(this.#log, '');
    for (const [name, body] of Object.entries(commands)) {
      const noted = `note() { echo "${name} $*" >> ${this.#log}; }\nnoted() { grep -c "$1" ${this.#log}; }`;
      await this.command(name, `${noted}\n${body}`);
    }
  }

  /** What was noted, a line for each call. */
  async said(): Promise<string[]> {
    return (await readFile(this.#log, 'utf8')).split('\n').filter((line) => line !== '');
  }

  /** Writes what cloud-init would, and runs one of its scripts. @throws Error when it fails. */
  async run(role: string, script: string, ...args: string[]): Promise<void> {
    const { write_files: files } = v.parse(CloudConfigSchema, parse(this.#userData[role]!));
    for (const { path, encoding, content } of files) {
      const text = encoding ? gunzipSync(Buffer.from(content, 'base64')).toString() : content;
      const moved = text.replaceAll(
        /(?<![\w.])\/(etc|run)\/global-relay/g,
        `${this.root}/$1/global-relay`,
      );
      await mkdir(join(this.root, path, '..'), { recursive: true });
      await writeFile(join(this.root, path), moved);
    }
    const env = { ...process.env, PATH: `${this.root}/bin:${process.env.PATH}` };
    await run('bash', [join(this.root, 'usr/local/lib/global-relay', script), ...args], { env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true });
  }
}
