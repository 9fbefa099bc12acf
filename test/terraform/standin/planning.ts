/** What a provider does with a resource when there is no cloud: plans, and makes up what a cloud would assign. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { changesWithEachUpdate, forcesReplacement, wellShaped } from './clouds.ts';
import type { Attribute, Schema, ValueType } from './schema.ts';
import { hasUnknown, mapAttributes, UNKNOWN, type Fields } from './values.ts';

export interface Plan {
  readonly planned: Fields;
  /** Attributes whose change the cloud answers with a new resource. */
  readonly replacedFor: readonly string[];
}

/**
 * @param prior null for a resource that is yet to be created
 * @param proposed prior state and configuration, merged by Terraform
 */
export function plan(type: string, schema: Schema, prior: Fields | null, proposed: Fields): Plan {
  const { block } = schema;
  // Terraform never keeps what is write-only.
  const kept = mapAttributes(block, proposed, ({ write_only }, value) =>
    write_only ? null : value,
  );
  if (prior === null) {
    const planned = mapAttributes(block, kept, (attribute, value) =>
      value === null && isAssigned(attribute) ? UNKNOWN : value,
    );
    return { planned, replacedFor: [] };
  }
  if (
    isDeepStrictEqual(
      kept,
      mapAttributes(block, prior, (_, value) => value),
    )
  ) {
    return { planned: kept, replacedFor: [] };
  }
  const planned = mapAttributes(block, kept, ({ computed }, value, path) =>
    computed && changesWithEachUpdate(type, path) ? UNKNOWN : value,
  );
  const replacedFor = Object.keys(kept).filter(
    (name) => forcesReplacement(type, name) && !isDeepStrictEqual(kept[name], prior[name] ?? null),
  );
  return { planned, replacedFor };
}

/** Of an object that one may give, the cloud assigns none when it was not given. */
function isAssigned({ computed, optional, nested_type }: Attribute): boolean {
  return computed === true && !(optional && nested_type !== undefined);
}

/** The state after an apply: what was planned, with everything unknown made up. */
export function apply(type: string, schema: Schema, planned: Fields): Fields {
  return mapAttributes(schema.block, planned, (attribute, value, path) =>
    hasUnknown(value) && (attribute.nested_type === undefined || value === UNKNOWN)
      ? madeUp(type, attribute, path)
      : value,
  );
}

/** The state of a data source: its configuration, with everything computed made up. */
export function read(type: string, schema: Schema, config: Fields): Fields {
  return mapAttributes(schema.block, config, (attribute, value, path) =>
    value === null && attribute.computed ? madeUp(type, attribute, path) : value,
  );
}

function madeUp(type: string, { type: valueType, nested_type }: Attribute, path: string): unknown {
  const value = wellShaped(type, path);
  if (value !== undefined) return value;
  if (nested_type === undefined) return example(valueType!, path.split('.').at(-1)!);
  if (nested_type.nesting_mode === 'map') return {};
  if (nested_type.nesting_mode !== 'single') return [];
  const fields = mapAttributes(nested_type, {}, () => null);
  return mapAttributes(nested_type, fields, (inner, _, name) =>
    madeUp(type, inner, `${path}.${name}`),
  );
}

function example(type: ValueType, name: string): unknown {
  switch (type) {
    case 'string': {
      const id = randomBytes(8).toString('hex');
      return name.endsWith('arn') ? `arn:aws:standin::123456789012:${id}` : `${name}-${id}`;
    }
    case 'number':
      return 0;
    case 'bool':
      return false;
    case 'dynamic':
      return null;
    default:
      return exampleOfMany(type, name);
  }
}

function exampleOfMany(type: Exclude<ValueType, string>, name: string): unknown {
  if (type[0] === 'object') {
    const fields = Object.entries(type[1]);
    return Object.fromEntries(fields.map(([field, inner]) => [field, example(inner, field)]));
  }
  if (type[0] === 'map') return {};
  return type[0] === 'list' ? [example(type[1], name)] : [];
}
