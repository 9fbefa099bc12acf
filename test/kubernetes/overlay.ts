/** A region's overlay as kustomize builds it, with what the kubelet makes of it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import { findProgram } from '../support/find-program.ts';
import { KUBECTL } from '../support/optional-program.ts';

const EnvSchema = v.looseObject({
  name: v.string(),
  value: v.optional(v.string()),
  valueFrom: v.optional(
    v.object({
      fieldRef: v.optional(v.object({ fieldPath: v.string() })),
      configMapKeyRef: v.optional(v.object({ name: v.string(), key: v.string() })),
      secretKeyRef: v.optional(v.object({ name: v.string(), key: v.string() })),
    }),
  ),
});
const ProbeSchema = v.looseObject({ httpGet: v.object({ path: v.string(), port: v.string() }) });
const ContainerSchema = v.looseObject({
  name: v.string(),
  image: v.string(),
  args: v.array(v.string()),
  env: v.array(EnvSchema),
  ports: v.array(v.looseObject({ name: v.string(), containerPort: v.number() })),
  livenessProbe: ProbeSchema,
  readinessProbe: ProbeSchema,
  securityContext: v.unknown(),
});
const PodSchema = v.object({
  metadata: v.object({ labels: v.record(v.string(), v.string()) }),
  spec: v.looseObject({
    terminationGracePeriodSeconds: v.number(),
    automountServiceAccountToken: v.boolean(),
    securityContext: v.unknown(),
    containers: v.tuple([ContainerSchema]),
  }),
});
const WorkloadSchema = v.looseObject({
  kind: v.picklist(['DaemonSet', 'StatefulSet', 'Deployment']),
  metadata: v.looseObject({ name: v.string() }),
  spec: v.looseObject({ template: PodSchema }),
});
export type Pod = v.InferOutput<typeof PodSchema>;

const ObjectSchema = v.looseObject({
  kind: v.string(),
  metadata: v.looseObject({ name: v.string(), namespace: v.string() }),
});
export type KubernetesObject = v.InferOutput<typeof ObjectSchema>;

const ConfigMapSchema = v.looseObject({ data: v.record(v.string(), v.string()) });

/** @param folder With its kustomization.yaml. @throws Error with what kustomize says. */
export async function buildOverlay(folder: string): Promise<KubernetesObject[]> {
  const kubectl = findProgram(KUBECTL.program)!;
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', folder]);
  return parseAllDocuments(stdout).map((document) => v.parse(ObjectSchema, document.toJS()));
}

export function podsOf(objects: readonly KubernetesObject[]): Map<string, Pod> {
  const workloads = objects.filter((object) => v.is(WorkloadSchema, object));
  return new Map(workloads.map(({ metadata, spec }) => [metadata.name, spec.template]));
}

export interface Given {
  /** Fields of the pod and its node, by their path. */
  readonly fields: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Of config maps that operators make, by key. */
  readonly config: Readonly<Record<string, string>>;
}

/**
 * The environment of a pod's container, with `$(NAME)` of earlier variables put in.
 *
 * @throws Error when it refers to what nobody has given.
 */
export function environmentOf(
  pod: Pod,
  objects: readonly KubernetesObject[],
  given: Given,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of pod.spec.containers[0].env) {
    const { fieldRef, configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (value !== undefined) {
      env[name] = value.replaceAll(/\$\(([A-Z_]+)\)/g, (_, key: string) => known(env, key));
    } else if (fieldRef) env[name] = known(given.fields, fieldRef.fieldPath);
    else if (secretKeyRef) env[name] = known(given.secrets, secretKeyRef.key);
    else if (configMapKeyRef) {
      const made = objects.find(({ metadata }) => metadata.name === configMapKeyRef.name);
      const data = made ? v.parse(ConfigMapSchema, made).data : given.config;
      env[name] = known(data, configMapKeyRef.key);
    }
  }
  return env;
}

function known(from: Readonly<Record<string, string>>, key: string): string {
  const value = from[key];
  if (value === undefined) throw new Error(`Nobody gives ${key}.`);
  return value;
}
