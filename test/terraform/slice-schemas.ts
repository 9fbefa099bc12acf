/**
 * Cuts out of a provider's schemas those of the types that terraform/ uses, and keeps them in schemas/.
 * `node test/terraform/slice-schemas.ts aws-6.66.0.json cloudflare-5.14.0.json` writes them anew, and with
 * `--check` compares. A file is named for its provider and version and is what
 * `terraform providers schema -json` prints after an init that could reach registry.terraform.io, or the
 * same rebuilt from the typings that CDK Terrain makes of it and npm has (@cdktn/provider-aws 25.7.0,
 * @cdktf/provider-cloudflare 13.9.1), which is what the files in schemas/ come from.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { Attribute, Block, ProviderSchemas, Schema } from './standin/schema.ts';

const TERRAFORM = new URL('../../terraform/', import.meta.url);
const SCHEMAS = new URL('schemas/', import.meta.url);

export const PROVIDERS = ['aws', 'cloudflare'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** A file of schemas/. */
export interface SchemaSlice extends ProviderSchemas {
  readonly provider_version: string;
  readonly source: string;
}

/** What `terraform providers schema -json` prints. */
export interface FullSchemas {
  /** The npm package it was rebuilt from. */
  readonly x_source?: string;
  readonly provider_schemas: Readonly<Record<string, ProviderSchemas>>;
}

/** The types of resources and data sources that the .tf files name. */
export interface UsedTypes {
  readonly resource: ReadonlySet<string>;
  readonly data: ReadonlySet<string>;
}

export async function usedTypes(): Promise<UsedTypes> {
  const files = await readdir(TERRAFORM, { recursive: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.endsWith('.tf'))
      .map((file) => readFile(new URL(file, TERRAFORM), 'utf8')),
  );
  const named = (kind: string) => {
    const block = new RegExp(`^${kind}\\s+"(\\w+)"`, 'gm');
    return new Set(texts.flatMap((text) => [...text.matchAll(block)].map(([, type]) => type!)));
  };
  return { resource: named('resource'), data: named('data') };
}

export async function readSlice(provider: ProviderName): Promise<SchemaSlice> {
  return JSON.parse(await readFile(new URL(`${provider}.json`, SCHEMAS), 'utf8'));
}

/** @throws when the full schemas do not have the provider */
export function slice(full: FullSchemas, provider: string, used: UsedTypes): ProviderSchemas {
  const schemas = Object.entries(full.provider_schemas).find(([address]) =>
    address.endsWith(`/${provider}`),
  )?.[1];
  if (schemas === undefined) throw new Error(`the file has no schemas of ${provider}`);
  const cut = (of: Readonly<Record<string, Schema>>, types: ReadonlySet<string>) =>
    Object.fromEntries(
      Object.entries(of)
        .filter(([type]) => types.has(type))
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([type, schema]) => [type, plain(withLater(type, schema))]),
    );
  return {
    provider: plain(schemas.provider),
    resource_schemas: cut(schemas.resource_schemas, used.resource),
    data_source_schemas: cut(schemas.data_source_schemas, used.data),
  };
}

function plain({ version = 0, block }: Schema): Schema {
  return { version, block: plainBlock(block) };
}

/** What later versions than those of schemas/ have and terraform/ uses, by type and nested attribute. */
const LATER: Readonly<Record<string, Readonly<Record<string, Record<string, Attribute>>>>> = {
  // 5.19.0
  cloudflare_workers_script: {
    bindings: {
      simple: {
        nested_type: {
          nesting_mode: 'single',
          attributes: {
            limit: { type: 'number', required: true },
            period: { type: 'number', required: true },
          },
        },
        optional: true,
      },
    },
  },
};

function withLater(type: string, { version = 0, block }: Schema): Schema {
  const attributes = mapEntries(block.attributes ?? {}, (name, attribute) => {
    const later = LATER[type]?.[name];
    const { nested_type } = attribute;
    if (later === undefined || nested_type === undefined) return attribute;
    const nested = { ...nested_type, attributes: { ...later, ...nested_type.attributes } };
    return { ...attribute, nested_type: nested };
  });
  return { version, block: { ...block, attributes } };
}

/** Without descriptions, and with what typings do not tell. */
function plainBlock({ attributes = {}, block_types = {} }: Block): Block {
  return {
    attributes: mapEntries(attributes, plainAttribute),
    block_types: mapEntries(block_types, (_, { nesting_mode, block, min_items, max_items }) => ({
      nesting_mode,
      ...(min_items ? { min_items } : {}),
      ...(max_items ? { max_items } : {}),
      block: plainBlock(block),
    })),
  };
}

/** Names of attributes that hold secrets; typings do not say which. */
const SECRET = /^(auth_token|password|passwords|secret|secret_string|text|token|tunnel_secret)$/;

function plainAttribute(name: string, attribute: Attribute): Attribute {
  const { type, nested_type, required, optional, computed, sensitive, write_only } = attribute;
  return {
    ...(nested_type === undefined
      ? { type: type! }
      : {
          nested_type: {
            nesting_mode: nested_type.nesting_mode,
            attributes: mapEntries(nested_type.attributes, plainAttribute),
          },
        }),
    ...(required ? { required } : {}),
    ...(optional ? { optional } : {}),
    // Typings leave some at "unknown", which then is not true.
    ...(computed === true ? { computed } : {}),
    ...(sensitive || SECRET.test(name) ? { sensitive: true } : {}),
    ...(write_only || (name.endsWith('_wo') && !computed) ? { write_only: true } : {}),
  };
}

function mapEntries<A, B>(
  record: Readonly<Record<string, A>>,
  change: (key: string, value: A) => B,
): Record<string, B> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(key, value)]),
  );
}

/** One line for each type, so that a difference shows which changed. */
function textOf({ provider_version, source, provider, ...kinds }: SchemaSlice): string {
  const blocks = Object.entries(kinds).map(
    ([kind, types]) => `${JSON.stringify(kind)}: {\n${lines(types)}\n}`,
  );
  return `{\n${[lines({ provider_version, source, provider }), ...blocks].join(',\n')}\n}\n`;
}

function lines(entries: object): string {
  return Object.entries(entries)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(',\n');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (positionals.length === 0) throw new Error('name the files with the full schemas');
  const used = await usedTypes();
  for (const path of positionals) {
    const [, name, version] = /^([a-z]+)-(\d+\.\d+\.\d+)\.json$/.exec(basename(path)) ?? [];
    const provider = PROVIDERS.find((known) => known === name);
    if (provider === undefined) throw new Error(`name ${path} like aws-6.66.0.json`);
    const full: FullSchemas = JSON.parse(await readFile(path, 'utf8'));
    const sliced: SchemaSlice = {
      provider_version: version!,
      source: full.x_source ?? 'terraform providers schema -json',
      ...slice(full, provider, used),
    };
    const file = new URL(`${provider}.json`, SCHEMAS);
    if (!values.check) await writeFile(file, textOf(sliced));
    else if (!isDeepStrictEqual(await readSlice(provider), sliced)) {
      throw new Error(`${fileURLToPath(file)} is not what ${path} has; run it without --check`);
    }
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(`slice-schemas: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
