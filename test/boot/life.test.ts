/** What machines do from their boot to their end: take up changes, say how they are, drain. */
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { ADDRESS, curlOf, Machine, PARAMETERS, render } from './machine.ts';

const INSTANCE = { 'instance-id': 'echo i-1' };
const ADDED = { '/peers': '["10.1.0.0/17","10.2.0.0/17","10.3.0.0/17"]' };

describeWith(TERRAFORM, 'a machine', () => {
  let userData: Record<string, string>;
  let machine: Machine;
  beforeAll(async () => {
    userData = await render();
  });
  beforeEach(async () => {
    machine = await Machine.start(userData);
  });
  afterEach(() => machine[Symbol.asyncDispose]());

  /** @param answers What the transceivers say. */
  async function report(answers: Readonly<Record<string, string>>): Promise<void> {
    await machine.command('curl', curlOf({ ...INSTANCE, ...answers }));
    await machine.run('transceiver', 'transceiver-report.sh');
  }

  /** @returns The units that it starts and stops. */
  async function update(change: Readonly<Record<string, string>>, systemctl = 'exit 0') {
    await machine.run('relay', 'relay-configure.sh', 'a');
    await machine.keepParameters({ ...PARAMETERS, ...change });
    await machine.command('sleep', ':');
    // Slot b has none.
    await machine.record({
      systemctl: `[[ $1 == is-active ]] && exit 3; note "$@"; ${systemctl}`,
    });
    const error = await machine.run('relay', 'relay-update.sh').catch((thrown: unknown) => thrown);
    return { failed: error !== undefined, units: await machine.said() };
  }

  describe('of transceivers, each minute', () => {
    beforeEach(() => machine.record({ aws: 'note "$@"' }));

    test('tells auto scaling how full it is, and nothing while it takes no call', async () => {
      await report({});
      expect(await machine.said()).toEqual([]);
      const metrics =
        'printf "transceiver_sessions{state=\\"connected\\"} 30\\ntransceiver_capacity 200\\n"';
      await report({ '[9500-9515]/metrics': `${metrics}; ${metrics}` });
      expect(await machine.said()).toEqual([
        expect.stringContaining(
          'MetricName=SessionUtilization,Unit=Percent,Value=15,Dimensions=[{Name=AutoScalingGroupName,Value=pool}]',
        ),
      ]);
    });

    test('asks for another machine once no transceiver has answered for a quarter of an hour', async () => {
      for (let minute = 0; minute < 14; minute++) await report({});
      await report({ '[9500-9515]/metrics': 'echo transceiver_capacity 0' });
      for (let minute = 0; minute < 14; minute++) await report({});
      expect(await machine.said()).toEqual([]);
      await report({});
      expect(await machine.said()).toEqual([
        'aws autoscaling set-instance-health --instance-id i-1 --health-status Unhealthy',
      ]);
    });
  });

  test.each([
    ['relay', ['relay-update.timer', 'relay-update.service', 'relay@a', 'relay@b']],
    ['transceiver', ['transceiver-report.timer', 'cloudflared', 'transceiver@*']],
  ])('of a %s lets auto scaling end it once all of it has drained', async (role, units) => {
    const asked = join(machine.root, 'asked');
    const state = `if [[ -f ${asked} ]]; then echo Terminated; else touch ${asked}; echo InService; fi`;
    await machine.command('curl', curlOf({ ...INSTANCE, 'target-lifecycle-state': state }));
    await machine.command('sleep', 'exec /bin/sleep 0.02');
    await machine.record({
      aws: 'note "$@"',
      // Each drains until two more signs of life were given; the first fails then.
      systemctl: `before=$(noted heartbeat)
        for _ in {1..1000}; do
          (($(noted heartbeat) > before + 1)) && break
          /bin/sleep 0.02
        done
        note "$@"
        [[ $2 != ${units[0]} ]]`,
    });
    await machine.run(role, 'drain-watch.sh');
    const hook = '--auto-scaling-group-name pool --lifecycle-hook-name drain --instance-id i-1';
    const heartbeat = `aws autoscaling record-lifecycle-action-heartbeat ${hook}`;
    expect((await machine.said()).filter((line) => line !== heartbeat)).toEqual([
      ...units.map((unit) => `systemctl stop ${unit}`),
      `aws autoscaling complete-lifecycle-action ${hook} --lifecycle-action-result CONTINUE`,
    ]);
  });

  describe('with a relay, when it looks for changes of the footprint,', () => {
    test('leaves it when there are none', async () => {
      expect(await update({})).toEqual({ failed: false, units: [] });
    });

    test('stops it once the next one is ready', async () => {
      await machine.command('curl', curlOf({ ...ADDRESS, ':9479/readyz': 'echo ready' }));
      const units = ['systemctl start relay@b', 'systemctl stop relay@a'];
      expect(await update(ADDED)).toEqual({ failed: false, units });
    });

    test.each([
      ['does not become ready', 'exit 0'],
      ['cannot start', '[[ $1 != start ]]'],
    ])('leaves it when the next one %s', async (_, systemctl) => {
      const units = ['systemctl start relay@b', 'systemctl stop relay@b'];
      expect(await update(ADDED, systemctl)).toEqual({ failed: true, units });
    });
  });
});
