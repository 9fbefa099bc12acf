/** The overlays of all regions are what Kubernetes and the processes in them take. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runRegion } from '../../local/region/run.ts';
import { REGIONS_DIR } from '../../local/stack.ts';
import { readFootprint } from '../../origin/footprint-files.ts';
import { readRelayConfig } from '../../origin/relay-config.ts';
import { readTransceiverConfig } from '../../origin/transceiver-config.ts';
import { describeWith, KUBECTL } from '../support/optional-program.ts';
import { buildOverlay, environmentOf, podsOf, type KubernetesObject } from './overlay.ts';
import { unknownFields } from './unknown-fields.ts';

const OVERLAYS = fileURLToPath(new URL('../../origin/k8s/overlays.ts', import.meta.url));
const ADDED = 'sa-east-1';
const footprint = await readFootprint(REGIONS_DIR);
const names = Object.keys(footprint);

/** What the cluster and its operators give. */
const GIVEN = {
  fields: {
    'status.hostIP': '10.1.0.7',
    'status.podIP': '10.1.64.3',
    "metadata.labels['apps.kubernetes.io/pod-index']": '11',
  },
  secrets: {
    'routing-keys': `A:${randomBytes(16).toString('base64')}`,
    'signing-key': randomBytes(32).toString('base64'),
    'redis-url': 'rediss://:secret@redis.example:6379',
    backend: '{"realtime":"wss://voice.example/v1/realtime","apiKey":"secret"}',
    'tunnel-token': 'secret',
  },
  config: { edge: 'https://voice.example' },
};

const HARDENED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

async function build(regions: string): Promise<Map<string, KubernetesObject[]>> {
  const out = await mkdtemp(join(tmpdir(), 'overlays-'));
  try {
    const args = [OVERLAYS, '--regions', regions, '--out', out];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const folders = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').at(-1)!);
    const built = folders.map(async (folder) => {
      return [folder.split('/').at(-1)!, await buildOverlay(folder)] as const;
    });
    return new Map(await Promise.all(built));
  } finally {
    await rm(out, { recursive: true });
  }
}

function named(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject {
  return objects.find((object) => object.kind === kind && object.metadata.name === name)!;
}

describeWith(KUBECTL, 'the overlay of', () => {
  let overlays: Map<string, KubernetesObject[]>;
  beforeAll(async () => {
    overlays = await build(REGIONS_DIR);
  });

  test('every region is there, and no other', () => {
    expect([...overlays.keys()].toSorted()).toEqual(names.toSorted());
  });

  describe.each(names)('%s', (name) => {
    let objects: KubernetesObject[];
    beforeAll(() => {
      objects = overlays.get(name)!;
    });

    test('has no field that Kubernetes does not know', () => {
      expect(objects.flatMap(unknownFields)).toEqual([]);
    });

    test('gives relays a configuration that they take', async () => {
      const env = environmentOf(podsOf(objects).get('relay')!, objects, GIVEN);
      const config = await readRelayConfig([], env);
      const others = names.filter((other) => other !== name);
      expect(config).toMatchObject({
        cluster: footprint[name]!.id,
        peers: names.map((each) => footprint[each]!.cidr).toSorted(),
        admin: { address: '10.1.0.7' },
      });
      expect(config.routes.map(({ region }) => region).toSorted()).toEqual(others.toSorted());
      expect(env.REDIS_URL).toBe(GIVEN.secrets['redis-url']);
    });

    test('gives transceivers a configuration that they take, with the ordinal as id', async () => {
      const env = environmentOf(podsOf(objects).get('transceiver')!, objects, GIVEN);
      expect(await readTransceiverConfig([], env)).toMatchObject({
        cluster: footprint[name]!.id,
        id: 11,
        peers: [footprint[name]!.cidr],
        backend: { realtime: 'wss://voice.example/v1/realtime' },
      });
    });

    test('routes to where the other regions have their trunk', async () => {
      const env = environmentOf(podsOf(objects).get('relay')!, objects, GIVEN);
      for (const { region, relays } of (await readRelayConfig([], env)).routes) {
        const trunk = named(overlays.get(region)!, 'Service', 'relay-trunk');
        expect(trunk.metadata).toHaveProperty(
          ['annotations', 'metallb.io/loadBalancerIPs'],
          relays[0]!.address,
        );
        expect(trunk.spec).toMatchObject({ ports: [{ port: relays[0]!.port, protocol: 'UDP' }] });
      }
    });

    test('has its region on the services whose series are to be of it', () => {
      const region = { metadata: { labels: { 'global-relay/region': name } } };
      expect(named(objects, 'Service', 'relay-admin')).toMatchObject(region);
      expect(named(objects, 'Service', 'transceiver')).toMatchObject(region);
    });

    test('gives each pod more time to end than its drain takes', async () => {
      const pods = podsOf(objects);
      const [relay, transceiver] = [pods.get('relay')!, pods.get('transceiver')!];
      const { drain } = await readRelayConfig([], environmentOf(relay, objects, GIVEN));
      expect(1000 * relay.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain.time);
      const config = await readTransceiverConfig([], environmentOf(transceiver, objects, GIVEN));
      expect(1000 * transceiver.spec.terminationGracePeriodSeconds).toBeGreaterThan(config.drain);
    });

    test('lets no pod have more than it needs', () => {
      const pods = podsOf(objects);
      expect([...pods.keys()].toSorted()).toEqual(['relay', 'transceiver', 'tunnel']);
      for (const [, { spec }] of pods) {
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(spec.automountServiceAccountToken).toBe(false);
        expect(spec.containers[0].securityContext).toEqual(HARDENED);
        expect(spec.containers[0]).toMatchObject({
          resources: { requests: { cpu: expect.anything(), memory: expect.anything() } },
        });
      }
      expect(objects.some(({ kind }) => kind === 'Secret')).toBe(false);
    });

    test('refers to ports that pods have, and to pods that are there', () => {
      const pods = [...podsOf(objects).values()];
      for (const { spec } of pods) {
        const [{ ports, livenessProbe, readinessProbe }] = spec.containers;
        const portNames = ports.map((port) => port.name);
        expect(portNames).toContain(livenessProbe.httpGet.port);
        expect(portNames).toContain(readinessProbe.httpGet.port);
      }
      const selecting = objects.filter((object) => v.is(SelectingSchema, object));
      expect(selecting.length).toBeGreaterThan(8);
      for (const { metadata, spec } of selecting) {
        const selected = pods.filter((pod) => selects(spec, pod.metadata.labels));
        expect({ of: metadata.name, selected }).not.toMatchObject({ selected: [] });
        for (const { targetPort } of spec.ports ?? []) {
          const all = selected.flatMap((pod) => pod.spec.containers[0].ports);
          expect(all.map((port) => port.name)).toContain(targetPort);
        }
      }
    });

    test('scales within what its file says', () => {
      const { min, max } = footprint[name]!.transceiver;
      const { spec } = named(objects, 'HorizontalPodAutoscaler', 'transceiver');
      expect(spec).toMatchObject({ minReplicas: min, maxReplicas: max });
    });

    test('lets only its own network and its own pods to its transceivers', () => {
      const { spec } = named(objects, 'NetworkPolicy', 'transceiver');
      expect(JSON.stringify(spec)).not.toContain('10.0.0.0/16');
      expect(spec).toMatchObject({
        ingress: [{ from: [{ ipBlock: { cidr: footprint[name]!.cidr } }] }, {}, {}],
      });
    });
  });

  describe('a region that is added', () => {
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'regions-'));
      await cp(REGIONS_DIR, directory, { recursive: true });
      await runRegion(['add', ADDED, '--regions', directory], { log: ignore, error: ignore });
    });
    afterAll(() => rm(directory, { recursive: true }));

    test('gets an overlay once it is active, and others change in their routes alone', async () => {
      expect(await build(directory)).toEqual(overlays);
      const file = join(directory, `${ADDED}.yaml`);
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace('state: planned', 'state: active'));
      const grown = await build(directory);
      expect([...grown.keys()].toSorted()).toEqual([...names, ADDED].toSorted());
      for (const name of names) {
        const [before, after] = [overlays.get(name)!, grown.get(name)!].map(withoutFootprint);
        expect(after).toEqual(before);
      }
    });
  });
});

test('a field that Kubernetes does not know is found, however deep', () => {
  const container = { name: 'a', livenessprobe: {}, env: [{ name: 'A', vale: '1' }] };
  const spec = { template: { spec: { containers: [container], hostnetwork: true } } };
  expect(unknownFields({ apiVersion: 'apps/v1', kind: 'DaemonSet', spec })).toEqual([
    'DaemonSet.spec.template.spec.containers.0.livenessprobe',
    'DaemonSet.spec.template.spec.containers.0.env.0.vale',
    'DaemonSet.spec.template.spec.hostnetwork',
  ]);
  expect(unknownFields({ apiVersion: 'apps/v1', kind: 'Daemon' })).toHaveLength(1);
  const monitor = { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', spec: {} };
  expect(unknownFields(monitor)).not.toEqual([]);
});

const LabelsSchema = v.record(v.string(), v.string());
const SelectingSchema = v.looseObject({
  kind: v.picklist(['Service', 'PodDisruptionBudget', 'NetworkPolicy', 'DaemonSet', 'StatefulSet']),
  metadata: v.looseObject({ name: v.string() }),
  spec: v.looseObject({
    selector: v.optional(v.union([v.object({ matchLabels: LabelsSchema }), LabelsSchema])),
    podSelector: v.optional(v.object({ matchLabels: v.optional(LabelsSchema) })),
    ports: v.optional(v.array(v.looseObject({ targetPort: v.string() }))),
  }),
});

/** A selector without labels is that of every pod. */
function selects(
  { selector, podSelector }: v.InferOutput<typeof SelectingSchema>['spec'],
  labels: Readonly<Record<string, string>>,
): boolean {
  const given = v.parse(v.looseObject({}), selector ?? podSelector);
  const wanted = v.parse(LabelsSchema, given.matchLabels ?? (podSelector ? {} : given));
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** The objects without the config map of the footprint, whose name is told apart by a hash. */
function withoutFootprint(objects: readonly KubernetesObject[]): unknown {
  const rest = objects.filter(({ kind }) => kind !== 'ConfigMap');
  return JSON.parse(JSON.stringify(rest).replaceAll(/footprint-\w+/g, 'footprint'));
}

function ignore(): void {}
