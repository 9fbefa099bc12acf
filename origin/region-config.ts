/** What a region process must know, as JSON: from the environment or from a file. */
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { BaseUrlSchema } from '../protocol/base-url.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKey } from '../protocol/signature.ts';

/** The environment variable that holds the whole configuration as JSON. */
export const REGION_CONFIG_VARIABLE = 'REGION_CONFIG';

/** Sessions a transceiver takes unless told otherwise; one thread carries about this many. */
const DEFAULT_CAPACITY = 200;

const Port = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535));
const ClusterId = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(0xffff));
const TransceiverId = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff));
const Cidr = v.pipe(
  v.string(),
  v.check((text) => ipaddr.isValidCIDR(text), 'is not a network, as 10.0.0.0/8'),
);

/** An address to bind or to reach; port 0 binds a free one. */
const AddressSchema = v.strictObject({ address: v.pipe(v.string(), v.ip()), port: Port });

export const RegionConfigSchema = v.strictObject({
  /** Name of the region, for logs. */
  region: v.pipe(v.string(), v.minLength(1)),
  cluster: ClusterId,
  relay: v.strictObject({
    /** Public UDP sockets. */
    listeners: v.pipe(v.array(AddressSchema), v.minLength(1)),
    trunk: AddressSchema,
  }),
  /** Networks whose trunk frames are accepted. */
  peers: v.pipe(v.array(Cidr), v.minLength(1)),
  /** How the relay reaches other clusters. */
  routes: v.array(
    v.strictObject({
      cluster: ClusterId,
      region: v.string(),
      relays: v.pipe(v.array(AddressSchema), v.minLength(1)),
    }),
  ),
  /** Text of `protocol/routing-keys.ts`. */
  routingKeys: secret(parseRoutingKeys),
  /** Base64 text of `protocol/signature.ts`. */
  signingKey: secret(parseSigningKey),
  /** Where signed requests come in. */
  signaling: AddressSchema,
  /** Base URL of the edge, whose roster the transceivers join. */
  edge: BaseUrlSchema,
  transceivers: v.pipe(
    v.array(
      v.strictObject({
        id: TransceiverId,
        trunk: AddressSchema,
        capacity: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), DEFAULT_CAPACITY),
      }),
    ),
    v.check(
      (list) => new Set(list.map(({ id }) => id)).size === list.length,
      'has two transceivers of one id',
    ),
  ),
  backend: v.optional(v.picklist(['echo']), 'echo'),
  logLevel: v.optional(v.picklist(['debug', 'info', 'warn', 'error', 'silent']), 'info'),
});
export type RegionConfig = v.InferOutput<typeof RegionConfigSchema>;

/** The configuration as it is written, before defaults. */
export type RegionConfigInput = v.InferInput<typeof RegionConfigSchema>;

/** A configuration that does not fit; the message lists every fault and shows no secret. */
export class RegionConfigError extends Error {
  override readonly name = 'RegionConfigError';
}

/** @throws RegionConfigError */
export function parseRegionConfig(json: string): RegionConfig {
  const result = v.safeParse(RegionConfigSchema, parseJson(json));
  if (result.success) return result.output;
  const faults = result.issues.map(
    (issue) => `  ${v.getDotPath(issue) ?? 'the whole'}: ${message(issue)}`,
  );
  throw new RegionConfigError(`The region's configuration does not fit:\n${faults.join('\n')}`);
}

/**
 * @param args Command line: nothing, or the path of a JSON file.
 * @throws RegionConfigError
 */
export async function readRegionConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<RegionConfig> {
  const [path, ...rest] = args;
  if (rest.length > 0)
    throw new RegionConfigError('Give one path of a configuration file, no more.');
  if (path !== undefined) return parseRegionConfig(await readText(path));
  const json = env[REGION_CONFIG_VARIABLE];
  if (json) return parseRegionConfig(json);
  throw new RegionConfigError(
    `Give the path of a configuration file, or its JSON in ${REGION_CONFIG_VARIABLE}.`,
  );
}

/** The text as it was, once `parse` takes it; its error message must not show the text. */
function secret(parse: (text: string) => unknown) {
  return v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      try {
        parse(dataset.value);
      } catch (error) {
        addIssue({ message: error instanceof Error ? error.message : 'is not a key' });
      }
    }),
  );
}

function message(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? '';
  const isSecret = path === 'routingKeys' || path === 'signingKey';
  return isSecret && issue.kind === 'schema' ? 'must be a text' : issue.message;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, which may be a key.
    throw new RegionConfigError("The region's configuration is not JSON.");
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RegionConfigError(`The configuration file cannot be read: ${reason}`);
  }
}
