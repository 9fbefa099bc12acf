/** What operators ask of a deployment, of a whole local one: where a call is, why packets drop, whether it works. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EXIT, type ExitCode } from '../local/ops/ops-command.ts';
import { opsRun } from '../local/ops/testing/ops-run.ts';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { startStack, type Stack, type StackOptions } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import { OFFER, postOffer, sdpAttribute } from './support/offers.ts';
import { sessionsOf } from './support/sessions.ts';
import { stunCheck } from './support/stun-check.ts';
import { UdpClient } from './support/udp-client.ts';
import { until } from './support/until.ts';

const COMMAND = fileURLToPath(new URL('../local/ops/command.ts', import.meta.url));
const ADMIN_KEY = 'admin_of-this-test';
const ADMIN_KEY_HASH = createHash('sha256').update(ADMIN_KEY).digest('hex');

interface Probed {
  readonly status: string;
  readonly faults: readonly { stage: string; why: string }[];
  readonly stages: Readonly<Record<string, number>>;
  readonly heard?: string;
  readonly relays: readonly { candidate: string; ms?: number; why?: string }[];
  readonly path: Readonly<Record<string, string>>;
}

async function probed(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Probed & { code: ExitCode }> {
  const { code, stdout } = await opsRun(['probe', '--json', ...args], env);
  const result: Probed = JSON.parse(stdout);
  return { ...result, code };
}

/** With one transceiver, so that what is said of it is said of the only one. */
async function openStack(options: StackOptions = {}): Promise<Stack> {
  const one = { 'us-east-1': 1, 'eu-central-1': 1, 'ap-northeast-1': 1 };
  return startStack({ transceivers: one, ...options });
}

describe('of a deployment that works', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await openStack({ adminKeyHash: ADMIN_KEY_HASH });
    return () => stack.close();
  });

  const regionOf = (name: string) => stack.regions.get(name)!;

  /** A call without media, and where it is. */
  async function placed() {
    const response = await postOffer(stack.edge, OFFER);
    const answer = await response.text();
    const location = response.headers.get('location')!;
    const name = /cluster="([^"]+)"/.exec(response.headers.get('relay-path')!)![1]!;
    onTestFinished(async () => void (await fetch(stack.edge + location, { method: 'DELETE' })));
    return { answer, location, region: regionOf(name) };
  }

  test('a probe goes through every stage and relay, and leaves nothing', async () => {
    const result = await probed([stack.edge], { GLOBAL_RELAY_KEY: DEMO_API_KEY });
    expect(result).toMatchObject({ code: EXIT.ok, status: 'ok', faults: [], heard: 'tone' });
    const stages = ['dns', 'edge', 'call', 'ice', 'dtls', 'audio', 'end'];
    expect(Object.keys(result.stages)).toEqual(stages);
    const relays = regionOf(result.path.cluster!).relays;
    expect(result.relays.map(({ candidate }) => candidate)).toEqual(
      relays.map(({ address, port, transport }) => `${address}:${port}/${transport}`),
    );
    expect(result.relays.every(({ ms }) => ms! > 0)).toBe(true);
    await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  });

  test('a probe as a command says it in words, and ends with the code for monitors', async () => {
    const { promise, resolve } = Promise.withResolvers<[unknown, string]>();
    const child = execFile(process.execPath, [COMMAND, 'probe', stack.edge], (_, stdout) =>
      resolve([child.exitCode, stdout]),
    );
    const [code, stdout] = await promise;
    expect(code).toBe(EXIT.ok);
    expect(stdout).toMatch(new RegExp(`^ok: ${stack.edge}$`, 'm'));
    expect(stdout).toMatch(/^audio +\d+\.\d {2}the tone came back$/m);
  });

  test('a probe of relays alone asks each, also those of other regions', async () => {
    const relays = [...stack.regions.values()].map((region) => region.relays[0]!);
    const named = relays.flatMap(({ port }) => ['--relay', `${LOOPBACK}:${port}/udp`]);
    const result = await probed([stack.edge, ...named]);
    expect(result).toMatchObject({ code: EXIT.ok, faults: [] });
    expect(result.relays.every(({ ms }) => ms! > 0)).toBe(true);
    expect(Object.keys(result.stages)).toEqual(['dns', 'edge', 'call', 'end']);
  });

  test('a relay that is not there is told, and the whole is down only without any other', async () => {
    const { dead } = await choosePorts({ dead: { protocol: 'tcp' } });
    const { port } = regionOf('us-east-1').relays[0]!;
    const gone = ['--relay', `${LOOPBACK}:${dead}`, '--timeout', '1'];
    const some = await probed([stack.edge, '--relay', `${LOOPBACK}:${port}/udp`, ...gone]);
    expect(some).toMatchObject({ code: EXIT.degraded, status: 'degraded' });
    expect(some.faults).toEqual([
      { stage: 'relay', why: expect.stringContaining(`${LOOPBACK}:${dead}/tcp: `) },
      { stage: 'relay', why: `${LOOPBACK}:${dead}/udp: no answer within 1 s` },
    ]);
    expect(await probed([stack.edge, ...gone])).toMatchObject({ code: EXIT.down, status: 'down' });
  });

  test('a key that the edge refuses says nothing of the deployment', async () => {
    const result = await probed([stack.edge], { GLOBAL_RELAY_KEY: 'ek_no' });
    expect(result).toMatchObject({ code: EXIT.unknown, status: 'unknown' });
    const [fault] = result.faults;
    expect(fault?.stage).toBe('call');
    expect(fault?.why).toMatch(/^the offer is answered with 401: The .+\.$/);
  });

  test('what is no URL, relay or time is told, and ends with 3', async () => {
    const refused = [['voice.example.com'], [stack.edge, '--relay', '203.0.113.7']];
    for (const args of [...refused, [stack.edge, '--timeout', '0'], []]) {
      const run = await opsRun(['probe', ...args]);
      expect(run).toMatchObject({ code: EXIT.unknown, stdout: '' });
    }
  });

  test('a call is traced from its URL to session, flow and roster, and then to its end', async () => {
    const { answer, location, region } = await placed();
    const untouched = ['--relay', region.admin, '--transceiver', `${region.admin}/transceivers/1`];
    const early = await opsRun(['trace', location, ...untouched], {
      ROUTING_KEYS: stack.routingKeys,
    });
    expect(early.stdout).toMatch(/^relay +\S+, of cluster \d: \d+ flows? to that transceiver$/m);
    await using client = await UdpClient.open();
    const check = stunCheck(
      sdpAttribute(answer, 'ice-ufrag'),
      'clnt',
      sdpAttribute(answer, 'ice-pwd'),
    );
    await client.send(check, region.relays[0]!);
    await until(() => client.received.length > 0);
    const asked = [
      ['--transceiver', `${region.admin}/transceivers/1`],
      ['--relay', region.admin],
      ['--edge', stack.edge],
    ].flat();
    const env = { ROUTING_KEYS: stack.routingKeys, ADMIN_KEY };
    const run = await opsRun(['trace', `${stack.edge}${location}`, '--json', ...asked], env);
    expect(run).toMatchObject({ code: EXIT.ok, stderr: '' });
    const found = JSON.parse(run.stdout);
    expect(found).toMatchObject({
      cluster: region.cluster,
      transceiver: 1,
      tenant: 'public',
      region: { name: region.name },
      owner: 'has it',
      session: { state: 'securing', client: client.address },
      relays: [{ flows: [{ state: 'proven', client: `${LOOPBACK}:${client.address.port}` }] }],
      roster: { entry: { draining: false } },
    });
    const { stdout } = await opsRun(['trace', location, ...asked], env);
    expect(stdout).toMatch(/^session +securing, opus, for \d+ s$/m);
    expect(stdout).toMatch(/^relay +\S+, of cluster \d: 1 flow of this session$/m);

    // The name that transceivers log needs no key.
    const byName = await opsRun(['trace', found.call, ...asked], { ADMIN_KEY });
    expect(byName.code).toBe(EXIT.ok);

    await fetch(stack.edge + location, { method: 'DELETE' });
    const ended = await opsRun(['trace', location, ...asked], env);
    expect(ended.code).toBe(EXIT.degraded);
    expect(ended.stdout).toContain('has it no more');
  });

  test('a trace says who was not the one, who could not be asked, and what could not be opened', async () => {
    const { location, region } = await placed();
    const env = { ROUTING_KEYS: stack.routingKeys };
    const other = [...stack.regions.values()].find(({ name }) => name !== region.name)!;
    const wrong = ['--transceiver', `${other.admin}/transceivers/1`];
    const elsewhere = await opsRun(['trace', location, ...wrong], env);
    expect(elsewhere.code).toBe(EXIT.down);
    expect(elsewhere.stdout).toContain(`not with transceiver 1 of cluster ${other.cluster}`);
    const { dead } = await choosePorts({ dead: { protocol: 'tcp' } });
    const nobody = ['--transceiver', `http://${LOOPBACK}:${dead}`];
    const unreached = await opsRun(['trace', location, ...nobody], env);
    expect(unreached.code).toBe(EXIT.down);
    expect(unreached.stdout).toMatch(/^not reached +http/m);
    const id = location.split('/').at(-1)!;
    const keys = `${id[0]}:${Buffer.alloc(16, 'else').toString('base64')}`;
    const closed = await opsRun(['trace', id], { ROUTING_KEYS: keys });
    expect(closed.code).toBe(EXIT.unknown);
    expect(closed.stderr).toContain('was not sealed with the key');
    expect((await opsRun(['trace', 'hello'], env)).code).toBe(EXIT.unknown);
    const keyless = await opsRun(['trace', location, '--edge', stack.edge], env);
    expect(keyless.stderr).toContain('ADMIN_KEY');
    const opened = await opsRun(['trace', id], env);
    expect(opened.code).toBe(EXIT.ok);
    expect(opened.stdout).toContain('name the admin server of its transceiver');
  });

  test('a tail of drops names each reason with its rate, what it means and what to do', async () => {
    const region = regionOf('us-east-1');
    await using client = await UdpClient.open();
    await client.send(Buffer.from('not media'), region.relays[0]!);
    const dropped = async () => (await region.relayCounters()).drops['not-media'];
    await until(async () => (await dropped()) > 0);
    const once = await opsRun(['drops', '--once', '--relay', region.admin]);
    expect(once.code).toBe(EXIT.ok);
    expect(once.stdout).toMatch(/not-media {2}\d+ since it started/);
    expect(once.stdout).toContain('Neither STUN, DTLS, RTP nor RTCP. Do: Nothing');

    const ending = new AbortController();
    const args = ['drops', '--every', '0.1', '--json', '--relay', region.admin];
    const lines: string[] = [];
    const tail = opsRun(args, {}, ending.signal, (line) => lines.push(line));
    await until(() => lines.length > 0);
    await client.send(stunCheck(`L${'A'.repeat(22)}`, 'clnt', 'password'), region.relays[0]!);
    const last = (): { drops?: Record<string, { total: number }> } => JSON.parse(lines.at(-1)!);
    await until(() => last().drops?.['forged'] !== undefined);
    ending.abort();
    expect((await tail).code).toBe(EXIT.ok);
    expect(last()).toMatchObject({ drops: { forged: { total: 1 } } });
  });

  test('a tail of drops says which relay cannot be asked', async () => {
    const { dead } = await choosePorts({ dead: { protocol: 'tcp' } });
    const gone = ['--relay', `http://${LOOPBACK}:${dead}`];
    const one = await opsRun(['drops', '--once', ...gone]);
    expect(one.code).toBe(EXIT.down);
    expect(one.stderr).toContain('cannot be asked');
    const both = await opsRun(['drops', '--once', '--relay', regionOf('us-east-1').admin, ...gone]);
    expect(both.code).toBe(EXIT.degraded);
    // Something else answers there.
    const edge = await opsRun(['drops', '--once', '--relay', stack.edge]);
    expect(edge.code).toBe(EXIT.down);
  });
});

describe('of a deployment that does not', () => {
  test('no edge, and no host at all, is down', async () => {
    const { dead } = await choosePorts({ dead: { protocol: 'tcp' } });
    const gone = await probed([`http://${LOOPBACK}:${dead}`]);
    expect(gone).toMatchObject({ code: EXIT.down, status: 'down' });
    expect(gone.faults).toEqual([{ stage: 'edge', why: expect.stringContaining('fetch failed') }]);
    const nowhere = await probed(['http://nowhere.invalid']);
    expect(nowhere).toMatchObject({ code: EXIT.down, stages: {}, faults: [{ stage: 'dns' }] });
    const { stdout } = await opsRun(['probe', 'http://nowhere.invalid']);
    expect(stdout).toMatch(/^ {2}Do \(dns\): See the DNS record/m);
  });

  test('calls whose relays take TCP alone are degraded, and no region at all is down', async () => {
    const stack = await openStack();
    onTestFinished(() => stack.close());
    const { dead } = await choosePorts({ dead: { protocol: 'udp' } });
    const clusters = stack.steering.clusters.map((cluster) => ({
      ...cluster,
      relays: cluster.relays.map((relay) =>
        relay.transport === 'udp' ? { ...relay, port: dead! } : relay,
      ),
    }));
    await stack.steer({ version: 1, clusters });
    await until(async () =>
      (await (await fetch(`${stack.edge}/v1/where`)).text()).includes(`"port":${dead},`),
    );
    const half = await probed([stack.edge, '--timeout', '5']);
    expect(half).toMatchObject({ code: EXIT.degraded, heard: 'tone' });
    const why = `${LOOPBACK}:${dead}/udp: no answer within 5 s`;
    expect(half.faults).toEqual([{ stage: 'relay', why }]);

    for (const { pid } of stack.regions.values()) process.kill(pid, 'SIGKILL');
    const lost = await probed([stack.edge]);
    expect(lost).toMatchObject({ code: EXIT.down, status: 'down', relays: [] });
    expect(lost.faults).toEqual([
      { stage: 'call', why: expect.stringMatching(/^the offer is answered with 50[234]: /) },
    ]);
  });

  test('a parrot says the tone back once it pauses', async () => {
    const stack = await openStack({ backend: 'parrot' });
    onTestFinished(() => stack.close());
    const result = await probed([stack.edge]);
    expect(result).toMatchObject({ code: EXIT.ok, faults: [] });
    expect(result.heard).toBeDefined();
  });
});
