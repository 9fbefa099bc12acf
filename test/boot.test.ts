/**
 * The first boot of machines: real Terraform renders it, and its real scripts write configurations that the
 * processes take. The cloud's commands are stood in for, since no cloud can be had: what they are asked is
 * recorded, and they answer as the cloud does.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRelayConfig } from '../origin/relay-config.ts';
import { readTransceiverConfig } from '../origin/transceiver-config.ts';
import { findProgram } from './support/find-program.ts';
import { describeWith, TERRAFORM } from './support/optional-program.ts';

const run = promisify(execFile);
const BOOT = fileURLToPath(new URL('../terraform/modules/region/boot', import.meta.url));

/** Bytes of user data that EC2 takes, before base64. */
const MAX_USER_DATA = 16_384;

const PARAMETERS: Readonly<Record<string, string>> = {
  '/keys': `A:${Buffer.alloc(16, 'routing').toString('base64')}`,
  '/signing': Buffer.alloc(32, 'signing').toString('base64'),
  '/backend': '{"realtime":"wss://voice.example/v1?a=1&b=2","apiKey":"s&cret"}',
  '/peers': '["10.1.0.0/17","10.2.0.0/17"]',
  '/routes':
    '[{"cluster":2,"region":"eu-central-1","relays":[{"address":"10.2.0.7","port":3479}]}]',
  '/redis': 'letters4nddigits',
  '/tunnel': 'eyJh',
};

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

const CloudConfigSchema = v.object({
  packages: v.array(v.string()),
  runcmd: v.array(v.array(v.string())),
  write_files: v.array(
    v.object({ path: v.string(), encoding: v.optional(v.literal('gz+b64')), content: v.string() }),
  ),
});

/** The user data of relays and of transceivers. */
async function render(): Promise<Record<string, string>> {
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

describeWith(TERRAFORM, 'a machine that boots', () => {
  let data: Record<string, string>;
  let root: string;
  beforeAll(async () => {
    data = await render();
  });
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'machine-'));
    const values = Object.entries(PARAMETERS).map(([name, value]) => `${name}) echo '${value}';;`);
    await command('aws', `case "$5" in ${values.join(' ')} *) exit 1;; esac`);
    await command(
      'curl',
      'case "$*" in *-X*) echo token;; *local-ipv4) echo 10.1.66.3;; *) exit 22;; esac',
    );
    // No other relay runs here.
    await command('systemctl', 'exit 3');
    await command('chown', ':');
  });
  afterAll(() => rm(root, { recursive: true }));

  async function command(name: string, body: string): Promise<void> {
    const path = join(root, 'bin', name);
    await mkdir(join(root, 'bin'), { recursive: true });
    await writeFile(path, `#!/bin/bash\n${body}\n`);
    await chmod(path, 0o755);
  }

  /** Writes what cloud-init would, under a root of its own, and runs one of its scripts there. */
  async function bootAndRun(role: string, script: string, ...args: string[]): Promise<string> {
    const { write_files: files } = v.parse(CloudConfigSchema, parse(data[role]!));
    for (const { path, encoding, content } of files) {
      const text = encoding ? gunzipSync(Buffer.from(content, 'base64')).toString() : content;
      const moved = text.replaceAll(
        /(?<![\w.])\/(etc|run)\/global-relay/g,
        `${root}/$1/global-relay`,
      );
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), moved);
    }
    const env = { ...process.env, PATH: `${root}/bin:${process.env.PATH}` };
    await run('bash', [join(root, 'usr/local/lib/global-relay', script), ...args], { env });
    return join(root, 'run/global-relay');
  }

  test.each(['relay', 'transceiver'])('as %s fits what EC2 takes, and shows no secret', (role) => {
    expect(Buffer.byteLength(data[role]!)).toBeLessThan(MAX_USER_DATA);
    expect(data[role]!.startsWith('#cloud-config\n')).toBe(true);
    const { runcmd, write_files: files } = v.parse(CloudConfigSchema, parse(data[role]!));
    const paths = files.map(({ path }) => path);
    const scripts = runcmd.flat().filter((word) => word.startsWith('/'));
    expect(paths).toEqual(expect.arrayContaining(scripts));
    for (const secret of Object.values(PARAMETERS)) expect(data[role]).not.toContain(secret);
  });

  test('gives a relay a configuration that it takes', async () => {
    const state = await bootAndRun('relay', 'relay-configure.sh', 'b');
    expect(await readRelayConfig([join(state, 'relay-b.json')], {})).toMatchObject({
      cluster: 1,
      relay: {
        listeners: [{ address: '10.1.66.3', port: 3478 }],
        tcp: { trunk: { address: '10.1.66.3', port: 3476 } },
      },
      peers: ['10.1.0.0/17', '10.2.0.0/17'],
      routes: [{ cluster: 2 }],
      admin: { port: 9479 },
      drain: { time: 60_000 },
    });
    const redis = await readFile(join(state, 'redis.env'), 'utf8');
    expect(redis).toBe('REDIS_URL=rediss://:letters4nddigits@redis.example:6379\n');
  });

  test('gives transceivers ids that no other machine of the region has', async () => {
    const state = await bootAndRun('transceiver', 'transceiver-configure.sh', '1');
    const file = join(state, 'transceiver-1.json');
    const config = await readTransceiverConfig([file], { TRANSCEIVER_INDEX: '1' });
    expect(config).toMatchObject({
      // 66.3 is the 515th address of its /20, each of which has 16 ids.
      id: 515 * 16 + 1,
      trunk: { address: '10.1.66.3', port: 4001 },
      backend: { apiKey: 's&cret' },
      drain: 60_000,
    });
  });

  test('tells auto scaling how full it is, and nothing while it takes no call', async () => {
    const said = join(root, 'said');
    await command('aws', `echo "$*" >> ${said}`);
    await command('curl', 'exit 22');
    await bootAndRun('transceiver', 'transceiver-report.sh');
    await expect(readFile(said, 'utf8')).rejects.toThrow('ENOENT');
    const metrics = 'transceiver_sessions{state=\\"connected\\"} 30\\ntransceiver_capacity 200\\n';
    await command('curl', `[[ $2 == *:950[01]/metrics ]] && printf "${metrics}"`);
    await bootAndRun('transceiver', 'transceiver-report.sh');
    expect(await readFile(said, 'utf8')).toContain(
      'MetricName=SessionUtilization,Unit=Percent,Value=15,Dimensions=[{Name=AutoScalingGroupName,Value=pool}]',
    );
  });

  test('writes nothing and fails when a secret cannot be read', async () => {
    await command('aws', 'exit 255');
    await expect(bootAndRun('relay', 'relay-configure.sh', 'a')).rejects.toThrow('Command failed');
    await expect(readFile(join(root, 'run/global-relay/relay-a.json'))).rejects.toThrow('ENOENT');
  });
});
