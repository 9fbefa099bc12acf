/** What is installed is what was looked at: pinned, with its sum, from the registry, under licences that fit. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const REGISTRY = 'https://registry.npmjs.org/';

/** Licences that ask for nothing but their own text, and MPL-2.0, which asks for changes of its files, of which there are none. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'PSF-2.0',
  'Unlicense',
]);

/** Those of tools besides, which are no part of what runs in a region or at the edge. */
const OF_TOOLS = new Set([...LICENCES, 'LGPL-3.0-or-later']);

/** Packages that run code of their own as they are installed: the Node that runs all, and what calls libc and OpenSSL. */
const SCRIPTS_RUN = ['koffi', 'node'];

const Text = v.record(v.string(), v.string());
const Manifest = v.object({
  dependencies: Text,
  devDependencies: Text,
  allowScripts: v.record(v.string(), v.boolean()),
});
const Locked = v.object({
  version: v.string(),
  license: v.string(),
  integrity: v.pipe(v.string(), v.regex(SHA512)),
  resolved: v.optional(v.pipe(v.string(), v.startsWith(REGISTRY))),
  dev: v.optional(v.boolean(), false),
  hasInstallScript: v.optional(v.boolean(), false),
});
const Component = v.object({
  'bom-ref': v.string(),
  purl: v.string(),
  hashes: v.pipe(
    v.array(v.object({ alg: v.literal('SHA-512'), content: v.string() })),
    v.length(1),
  ),
});
const Bom = v.object({
  bomFormat: v.literal('CycloneDX'),
  specVersion: v.string(),
  metadata: v.object({ component: v.object({ 'bom-ref': v.string() }) }),
  components: v.array(Component),
  dependencies: v.array(v.object({ ref: v.string(), dependsOn: v.array(v.string()) })),
});

const manifest = v.parse(Manifest, await readJson('package.json'));
const { packages } = v.parse(
  v.object({ packages: v.record(v.string(), v.unknown()) }),
  await readJson('package-lock.json'),
);
/** Where each package is installed; '' is the project itself. */
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every dependency is pinned to one version, which is the one that is locked', () => {
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(wanted)) {
    expect([name, version]).toEqual([name, expect.stringMatching(EXACT_VERSION)]);
    expect(packages[`node_modules/${name}`]).toMatchObject({ version });
  }
});

test('every package comes from the registry, with its sum', () => {
  expect(installed.length).toBeGreaterThan(Object.keys(manifest.devDependencies).length);
  const faulty = installed.filter(([, locked]) => !v.is(Locked, locked));
  expect(faulty).toEqual([]);
});

test('licences are of those that were looked at', () => {
  const others = installed.filter(([, locked]) => {
    const { license, dev } = v.parse(Locked, locked);
    return !fits(license, dev ? OF_TOOLS : LICENCES);
  });
  expect(others).toEqual([]);
});

test('no package runs a script as it is installed but those that must', () => {
  const { allowScripts } = manifest;
  const withScript = installed.filter(([, locked]) => v.parse(Locked, locked).hasInstallScript);
  const undecided = withScript.filter(([path]) => allowScripts[nameOf(path)] === undefined);
  expect(undecided).toEqual([]);
  const run = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  expect(run.toSorted()).toEqual(SCRIPTS_RUN);
});

describe('the bill of materials', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  const bom = v.parse(Bom, JSON.parse(stdout));

  test('names every package that is locked, with its sum, and no other', () => {
    const locked = installed.map(([path, entry]) => {
      const { version, integrity } = v.parse(Locked, entry);
      return `${purlOf(nameOf(path), version)} ${hexOf(integrity)}`;
    });
    const named = bom.components.map(({ purl, hashes }) => `${purl} ${hashes[0]!.content}`);
    expect([...new Set(named)].toSorted()).toEqual([...new Set(locked)].toSorted());
  });

  test('refers to what it has, and has each reference once', () => {
    const refs = bom.components.map((component) => component['bom-ref']);
    expect(refs.length).toBe(new Set(refs).size);
    const known = new Set([...refs, bom.metadata.component['bom-ref']]);
    const used = bom.dependencies.flatMap(({ ref, dependsOn }) => dependsOn.concat(ref));
    expect(used.filter((ref) => !known.has(ref))).toEqual([]);
  });
});

async function readJson(name: string): Promise<unknown> {
  return JSON.parse(await readFile(join(ROOT, name), 'utf8'));
}

function nameOf(path: string): string {
  return path.split('node_modules/').at(-1)!;
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
}

/** Whether an expression of SPDX without brackets is met: all of what AND joins, any of what OR does. */
function fits(expression: string, licences: ReadonlySet<string>): boolean {
  return expression
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => licences.has(licence)));
}
