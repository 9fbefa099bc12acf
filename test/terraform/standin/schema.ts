/** A provider's schemas, in the shape of `terraform providers schema -json`, and how the plugin protocol has them. */

export type ValueType =
  | 'string'
  | 'number'
  | 'bool'
  | 'dynamic'
  | readonly ['list' | 'set' | 'map', ValueType]
  | readonly ['object', Readonly<Record<string, ValueType>>];

export type Nesting = 'single' | 'list' | 'set' | 'map' | 'group';

/** An attribute has a type, or attributes of its own. */
export interface Attribute {
  readonly type?: ValueType;
  readonly nested_type?: NestedAttributes;
  readonly required?: boolean;
  readonly optional?: boolean;
  readonly computed?: boolean;
  readonly sensitive?: boolean;
  readonly write_only?: boolean;
}

export interface NestedAttributes {
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly nesting_mode: Nesting;
}

export interface NestedBlock {
  readonly nesting_mode: Nesting;
  readonly block: Block;
  readonly min_items?: number;
  readonly max_items?: number;
}

export interface Block {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly block_types?: Readonly<Record<string, NestedBlock>>;
}

export interface Schema {
  readonly version?: number;
  readonly block: Block;
}

export interface ProviderSchemas {
  readonly provider: Schema;
  readonly resource_schemas: Readonly<Record<string, Schema>>;
  readonly data_source_schemas: Readonly<Record<string, Schema>>;
}

/** The answer to GetProviderSchema. */
export function schemaMessage(schemas: ProviderSchemas): object {
  return {
    provider: message(schemas.provider),
    resource_schemas: mapValues(schemas.resource_schemas, message),
    data_source_schemas: mapValues(schemas.data_source_schemas, message),
  };
}

function message({ version = 0, block }: Schema): object {
  return { version, block: blockMessage(block) };
}

function blockMessage({ attributes = {}, block_types = {} }: Block): object {
  return {
    attributes: Object.entries(attributes).map(attributeMessage),
    block_types: Object.entries(block_types).map(
      ([type_name, { nesting_mode, block, min_items = 0, max_items = 0 }]) => ({
        type_name,
        nesting: nesting_mode.toUpperCase(),
        min_items,
        max_items,
        block: blockMessage(block),
      }),
    ),
  };
}

function attributeMessage([name, { type, nested_type, ...flags }]: [string, Attribute]): object {
  if (nested_type === undefined) return { name, ...flags, type: Buffer.from(JSON.stringify(type)) };
  const attributes = Object.entries(nested_type.attributes).map(attributeMessage);
  return {
    name,
    ...flags,
    nested_type: { attributes, nesting: nested_type.nesting_mode.toUpperCase() },
  };
}

function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
