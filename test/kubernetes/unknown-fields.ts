/** Fields that Kubernetes would not know, which it drops without a word; and those of monitors, which it lacks. */
import * as models from '@kubernetes/client-node';
import * as v from 'valibot';

const LABELS = v.record(v.string(), v.string());

/** What is used of the operator's https://prometheus-operator.dev/docs/api-reference/api/. */
const ServiceMonitorSchema = v.strictObject({
  apiVersion: v.literal('monitoring.coreos.com/v1'),
  kind: v.literal('ServiceMonitor'),
  metadata: v.looseObject({ name: v.string() }),
  spec: v.strictObject({
    selector: v.strictObject({ matchLabels: LABELS }),
    jobLabel: v.string(),
    endpoints: v.array(
      v.strictObject({
        port: v.string(),
        path: v.string(),
        interval: v.string(),
        relabelings: v.array(
          v.strictObject({ sourceLabels: v.array(v.string()), targetLabel: v.string() }),
        ),
      }),
    ),
  }),
});

const ObjectSchema = v.looseObject({ apiVersion: v.string(), kind: v.string() });

interface Model {
  getAttributeTypeMap(): readonly { readonly baseName: string; readonly type: string }[];
}

const MODELS: Readonly<Record<string, unknown>> = models;

/** @returns Each field of an object of Kubernetes that its kind does not have, with its path. */
export function unknownFields(object: unknown): string[] {
  const { apiVersion, kind } = v.parse(ObjectSchema, object);
  if (kind === 'ServiceMonitor') {
    const result = v.safeParse(ServiceMonitorSchema, object);
    return (result.issues ?? []).map((issue) => `${kind}.${v.getDotPath(issue) ?? ''}`);
  }
  const version = apiVersion.split('/').at(-1)!;
  const type = version.charAt(0).toUpperCase() + version.slice(1) + kind;
  if (!isModel(MODELS[type])) return [`${apiVersion} ${kind}: there is no such kind`];
  return fieldsOf(object, type, kind);
}

/** @param type As the generated models name it: a model, `Array<T>`, or `{ [key: string]: T; }`. */
function fieldsOf(value: unknown, type: string, at: string): string[] {
  const item = /^Array<(.+)>$/.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${at}: is no list`];
    return value.flatMap((one, index) => fieldsOf(one, item, `${at}.${index}`));
  }
  const entry = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  const model = MODELS[type];
  if (entry === undefined && !isModel(model)) return [];
  if (!v.is(v.record(v.string(), v.unknown()), value)) return [`${at}: has no fields`];
  if (entry !== undefined) {
    return Object.entries(value).flatMap(([key, one]) => fieldsOf(one, entry, `${at}.${key}`));
  }
  const types = isModel(model)
    ? new Map(model.getAttributeTypeMap().map(({ baseName, type: of }) => [baseName, of]))
    : new Map<string, string>();
  return Object.entries(value).flatMap(([key, one]) => {
    const of = types.get(key);
    return of === undefined ? [`${at}.${key}`] : fieldsOf(one, of, `${at}.${key}`);
  });
}

function isModel(value: unknown): value is Model {
  return typeof value === 'function' && 'getAttributeTypeMap' in value;
}
