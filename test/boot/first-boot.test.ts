/** The first boot of machines: what Terraform renders, and the configurations that its scripts write. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRelayConfig } from '../../origin/relay-config.ts';
import { readTransceiverConfig } from '../../origin/transceiver-config.ts';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { CloudConfigSchema, Machine, PARAMETERS, render } from './machine.ts';

/** Bytes of user data that EC2 takes, before base64. */
const MAX_USER_DATA = 16_384;

describeWith(TERRAFORM, 'a machine that boots', () => {
  let userData: Record<string, string>;
  let machine: Machine;
  beforeAll(async () => {
    userData = await render();
  });
  beforeEach(async () => {
    machine = await Machine.start(userData);
  });
  afterEach(() => machine[Symbol.asyncDispose]());

  test.each(['relay', 'transceiver'])('as %s fits what EC2 takes, and shows no secret', (role) => {
    expect(Buffer.byteLength(userData[role]!)).toBeLessThan(MAX_USER_DATA);
    expect(userData[role]!.startsWith('#cloud-config\n')).toBe(true);
    const { runcmd, write_files: files } = v.parse(CloudConfigSchema, parse(userData[role]!));
    const paths = files.map(({ path }) => path);
    const scripts = runcmd.flat().filter((word) => word.startsWith('/'));
    expect(paths).toEqual(expect.arrayContaining(scripts));
    for (const secret of Object.values(PARAMETERS)) expect(userData[role]).not.toContain(secret);
  });

  test('gives a relay a configuration that it takes', async () => {
    await machine.run('relay', 'relay-configure.sh', 'b');
    const { state } = machine;
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
    await machine.run('transceiver', 'transceiver-configure.sh', '1');
    const file = join(machine.state, 'transceiver-1.json');
    const config = await readTransceiverConfig([file], { TRANSCEIVER_INDEX: '1' });
    expect(config).toMatchObject({
      // 66.3 is the 515th address of its /20, each of which has 16 ids.
      id: 515 * 16 + 1,
      trunk: { address: '10.1.66.3', port: 4001 },
      backend: { apiKey: 's&cret' },
      drain: 60_000,
    });
  });

  test('starts every transceiver and what goes with them, whichever of them fails at first', async () => {
    await machine.record({ systemctl: 'note "$@"; exit 1' });
    await machine.command('nproc', 'echo 3');
    await expect(machine.run('transceiver', 'transceivers.sh')).rejects.toThrow('Command failed');
    expect(await machine.said()).toEqual([
      'systemctl enable --now transceiver@0 transceiver@1 transceiver@2 cloudflared transceiver-report.timer drain-watch',
    ]);
  });

  test('writes nothing and fails when a secret cannot be read', async () => {
    await machine.command('aws', 'exit 255');
    await expect(machine.run('relay', 'relay-configure.sh', 'a')).rejects.toThrow('Command failed');
    await expect(readFile(join(machine.state, 'relay-a.json'))).rejects.toThrow('ENOENT');
  });
});
