/** What docs/infrastructure.md has operators put on top of an overlay and beside it does what it says. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REGIONS_DIR } from '../../local/stack.ts';
import { describeWith, KUBECTL } from '../support/optional-program.ts';
import { buildOverlay, podsOf, type KubernetesObject } from './overlay.ts';

const OVERLAYS = fileURLToPath(new URL('../../origin/k8s/overlays.ts', import.meta.url));
const PAGE = new URL('../../docs/infrastructure.md', import.meta.url);

describeWith(KUBECTL, 'an own kustomization on top of an overlay', () => {
  let directory: string;
  let page: string;
  let objects: KubernetesObject[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kustomization-'));
    page = await readFile(PAGE, 'utf8');
    const args = [OVERLAYS, '--regions', REGIONS_DIR, '--out', join(directory, 'dist/k8s')];
    await promisify(execFile)(process.execPath, args);
    const folder = join(directory, 'deploy/us-east-1');
    await mkdir(folder, { recursive: true });
    const text = [blockWith('kind: Kustomization'), blockWith('kind: ServiceMonitor')].join('\n');
    await writeFile(join(folder, 'kustomization.yaml'), text);
    objects = await buildOverlay(folder);
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('names every image, and takes the monitors out', () => {
    const images = [...podsOf(objects)].map(([name, { spec }]) => [name, spec.containers[0].image]);
    expect(Object.fromEntries(images)).toEqual({
      relay: 'registry.example/global-relay@sha256:…',
      transceiver: 'registry.example/global-relay@sha256:…',
      tunnel: 'docker.io/cloudflare/cloudflared@sha256:…',
    });
    expect(objects.filter(({ kind }) => kind === 'ServiceMonitor')).toEqual([]);
  });

  test('finds every key that the page has kubectl create beside it', () => {
    const made = page
      .split('\n')
      .filter((line) => line.startsWith('kubectl create --namespace global-relay '))
      .flatMap((line) => {
        const [kind, name] = / (configmap|secret) (?:generic )?(\S+)/.exec(line)!.slice(1);
        return [...line.matchAll(/--from-literal='?([a-z-]+)=/g)].map(([, key]) => [
          kind,
          name,
          key,
        ]);
      });
    const wanted = [...podsOf(objects).values()].flatMap(({ spec }) =>
      spec.containers[0].env.flatMap(({ valueFrom }) => {
        const { secretKeyRef: secret, configMapKeyRef: map } = valueFrom ?? {};
        if (secret) return [['secret', secret.name, secret.key]];
        // The overlay makes the footprint itself, under a name with a hash.
        return map && !map.name.startsWith('footprint-') ? [['configmap', map.name, map.key]] : [];
      }),
    );
    expect(unique(made)).toEqual(unique(wanted));
  });

  /** The block of YAML on the page that has these words, without what indents it. */
  function blockWith(words: string): string {
    const blocks = [...page.matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)];
    const [, indent = '', text = ''] = blocks.find(([, , it]) => it?.includes(words))!;
    return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
  }
});

function unique(keys: readonly unknown[]): string[] {
  return [...new Set(keys.map((key) => JSON.stringify(key)))].toSorted();
}
