import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { readFootprint } from '../../origin/footprint-files.ts';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { REGIONS_DIR } from './clusters.ts';
import { decodeUfrag, ufragIn } from './decode.ts';
import { EXIT } from './ops-command.ts';
import { opsRun } from './testing/ops-run.ts';

const HOUR = 3_600_000;
const KEYS = `A:${Buffer.alloc(16, 'one').toString('base64')}`;
const OTHER_BYTES = `A:${Buffer.alloc(16, 'two').toString('base64')}`;
const OTHER_ID = `B:${Buffer.alloc(16, 'one').toString('base64')}`;
const NOW = Date.now();
const ROUTE = { cluster: 2, transceiver: 5, expiresAt: NOW + HOUR };
const UFRAG = new UfragCodec(parseRoutingKeys(KEYS)).seal(ROUTE);
const footprint = await readFootprint(REGIONS_DIR);

function reasonFor(ufrag: string, keys = KEYS): string | undefined {
  return decodeUfrag(ufrag, parseRoutingKeys(keys), footprint, NOW).refusal?.reason;
}

test('a ufrag says cluster, region, transceiver and expiry', async () => {
  const run = await opsRun(['decode', UFRAG], { ROUTING_KEYS: KEYS });
  expect(run).toMatchObject({ code: EXIT.ok, stderr: '' });
  expect(run.stdout).toMatch(/^cluster +2, eu-central-1 \(Frankfurt\), active$/m);
  expect(run.stdout).toMatch(/^transceiver +5$/m);
  expect(run.stdout).toMatch(/^expires +\S+Z, in (1 h \d|59|60) min$/m);
});

test('the line of an answer and the USERNAME of a check do as well', () => {
  for (const text of [`a=ice-ufrag:${UFRAG}`, `${UFRAG}:clnt`, ` ${UFRAG}\n`]) {
    expect(ufragIn(text)).toBe(UFRAG);
  }
});

test('each refusal is named as relays count it, with what to do', async () => {
  const codec = new UfragCodec(parseRoutingKeys(KEYS));
  expect(reasonFor(UFRAG)).toBeUndefined();
  expect(reasonFor('clnt')).toBe('malformed-ufrag');
  expect(reasonFor(UFRAG, OTHER_ID)).toBe('unknown-key');
  expect(reasonFor(UFRAG, OTHER_BYTES)).toBe('forged');
  expect(reasonFor(codec.seal({ ...ROUTE, expiresAt: NOW - HOUR }))).toBe('expired');
  expect(reasonFor(codec.seal({ ...ROUTE, cluster: 999 }))).toBe('unknown-cluster');
  const run = await opsRun(['decode', UFRAG], { ROUTING_KEYS: OTHER_BYTES });
  expect(run.code).toBe(EXIT.degraded);
  expect(run.stdout).toMatch(/^what to do +.*Compare ROUTING_KEYS/m);
});

test('JSON has what the words have', async () => {
  const run = await opsRun(['decode', UFRAG, '--json'], { ROUTING_KEYS: KEYS });
  expect(JSON.parse(run.stdout)).toMatchObject({
    accepted: true,
    cluster: 2,
    region: { name: 'eu-central-1', state: 'active' },
    transceiver: 5,
  });
});

test('keys come from a file, be it their text or the configuration of a relay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [text, config, broken] = ['text', 'relay.json', 'broken.json'].map((it) =>
    join(folder, it),
  );
  await writeFile(text!, `${KEYS}\n`);
  await writeFile(config!, JSON.stringify({ cluster: 1, routingKeys: KEYS }));
  await writeFile(broken!, `{"routingKeys": ${KEYS}`);
  expect((await opsRun(['decode', UFRAG, '--keys', text!])).code).toBe(EXIT.ok);
  expect((await opsRun(['decode', UFRAG, '--keys', config!])).code).toBe(EXIT.ok);
  const run = await opsRun(['decode', UFRAG, '--keys', broken!]);
  expect(run.code).toBe(EXIT.unknown);
  expect(run.stderr).toContain('is no JSON with the text routingKeys');
  expect(run.stderr).not.toContain(KEYS.slice(2, 10));
});

test('what is missing or wrong is told in one line that shows no key, and ends with 3', async () => {
  const without = await opsRun(['decode', UFRAG]);
  expect(without).toMatchObject({ code: EXIT.unknown, stdout: '' });
  expect(without.stderr).toContain('ROUTING_KEYS');
  const bad = await opsRun(['decode', UFRAG], { ROUTING_KEYS: 'A:secret' });
  expect(bad.code).toBe(EXIT.unknown);
  expect(bad.stderr).not.toContain('secret');
  expect((await opsRun(['decode'], { ROUTING_KEYS: KEYS })).code).toBe(EXIT.unknown);
  expect((await opsRun(['decode', UFRAG, '--key', KEYS])).code).toBe(EXIT.unknown);
  expect((await opsRun(['encode'])).stderr).toContain('none of probe, trace, decode, drops');
});

test('every command teaches', async () => {
  for (const command of ['probe', 'trace', 'decode', 'drops']) {
    const { code, stdout } = await opsRun([command, '--help']);
    expect(code).toBe(EXIT.ok);
    expect(stdout).toContain(`npm run ops -- ${command}`);
  }
  const { stdout } = await opsRun([]);
  expect(stdout).toContain('npm run ops -- decode UFRAG');
});

test('decoding is total', async () => {
  const keys = parseRoutingKeys(KEYS);
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      expect(decodeUfrag(ufragIn(text), keys, footprint, NOW).accepted).toBe(false);
    }),
  );
});
