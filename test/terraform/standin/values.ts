/**
 * Terraform's values: MessagePack, in which an extension stands for what is not known before an apply
 * (go-cty docs/object-wire-format.md).
 */
import { Decoder, Encoder, ExtensionCodec } from '@msgpack/msgpack';
import type { Attribute, Block, Nesting } from './schema.ts';

/** What only an apply will tell. */
export const UNKNOWN = Object.freeze({ unknown: true });

/** A resource or block: its attributes by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** How the plugin protocol carries a value. */
export interface DynamicValue {
  readonly msgpack?: Uint8Array;
  readonly json?: Uint8Array;
}

const UNKNOWN_EXTENSION = 0;
/** An unknown value of which something is known, such as a prefix; that much is forgotten here. */
const REFINED_UNKNOWN_EXTENSION = 12;

const extensionCodec = new ExtensionCodec();
extensionCodec.register({
  type: UNKNOWN_EXTENSION,
  encode: (value) => (value === UNKNOWN ? Uint8Array.of(0) : null),
  decode: () => UNKNOWN,
});
extensionCodec.register({
  type: REFINED_UNKNOWN_EXTENSION,
  encode: () => null,
  decode: () => UNKNOWN,
});
const encoder = new Encoder({ extensionCodec });
const decoder = new Decoder({ extensionCodec });

/** @returns null for what is not there, such as the state of a resource that is to be destroyed */
export function decode({ msgpack, json }: DynamicValue): Fields | null {
  if (msgpack?.length) return asFields(decoder.decode(msgpack));
  return json?.length ? asFields(JSON.parse(Buffer.from(json).toString())) : null;
}

export function encode(value: Fields | null): DynamicValue {
  return { msgpack: encoder.encode(value) };
}

/** @returns null when it has no fields, not being an object */
export function asFields(value: unknown): Fields | null {
  return isFields(value) ? value : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && value !== UNKNOWN;
}

/** Also true of a list, map or object with something unknown in it. */
export function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  return Object.values(value).some(hasUnknown);
}

/** What an attribute becomes; `path` has the names down to it, without places in lists. */
export type Change = (attribute: Attribute, value: unknown, path: string) => unknown;

/** The fields of a block with every attribute changed, those in blocks and objects below it too. */
export function mapAttributes(block: Block, fields: Fields, change: Change, at = ''): Fields {
  const attributes = Object.entries(block.attributes ?? {}).map(([name, attribute]) => {
    const path = at + name;
    const value = change(attribute, fields[name] ?? null, path);
    const { nested_type } = attribute;
    if (nested_type === undefined) return [name, value];
    const inner = (each: Fields) => mapAttributes(nested_type, each, change, `${path}.`);
    return [name, mapNested(nested_type.nesting_mode, value, inner)];
  });
  const blocks = Object.entries(block.block_types ?? {}).map(
    ([name, { nesting_mode, block: below }]) => {
      const inner = (each: Fields) => mapAttributes(below, each, change, `${at}${name}.`);
      return [name, mapNested(nesting_mode, fields[name] ?? null, inner)];
    },
  );
  return Object.fromEntries([...attributes, ...blocks]);
}

function mapNested(nesting: Nesting, value: unknown, change: (each: Fields) => Fields): unknown {
  if (!isFields(value)) return value;
  const each = (item: unknown) => (isFields(item) ? change(item) : item);
  if (nesting === 'single' || nesting === 'group') return each(value);
  if (Array.isArray(value)) return value.map(each);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, each(item)]));
}
