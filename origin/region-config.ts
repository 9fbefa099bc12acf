/** What a region process must know, as JSON: from the environment or from a file. */
import * as v from 'valibot';
import { BaseUrlSchema } from '../protocol/base-url.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys } from '../protocol/signature.ts';
import { BackendChoice } from './backend/backends.ts';
import {
  Address,
  Capacity,
  Cidr,
  ClusterId,
  LogLevel,
  RelaySockets,
  Routes,
  TransceiverId,
  parseConfig,
  readConfigText,
  secret,
} from './config.ts';
import { requireRedisUrl } from './redis/redis-url.ts';

/** The environment variable that holds the whole configuration as JSON. */
export const REGION_CONFIG_VARIABLE = 'REGION_CONFIG';

/** Where metrics and health are asked for unless told otherwise, as of a relay alone. */
const DEFAULT_ADMIN = { address: '127.0.0.1', port: 9478 };

const WHOSE = "The region's";

export const RegionConfigSchema = v.strictObject({
  /** Name of the region, for logs. */
  region: v.pipe(v.string(), v.minLength(1)),
  cluster: ClusterId,
  relay: RelaySockets,
  /** Networks whose trunk frames are accepted. */
  peers: v.pipe(v.array(Cidr), v.minLength(1)),
  routes: Routes,
  /** Text of `protocol/routing-keys.ts`. */
  routingKeys: secret(parseRoutingKeys),
  /** Text of `protocol/signature.ts`, one key or two. */
  signingKey: secret(parseSigningKeys),
  /** URL of the region's own Redis, where the relay keeps its flows; else they are in memory alone. */
  redis: v.optional(secret(requireRedisUrl)),
  /** Where signed requests come in. */
  signaling: Address,
  /** Base URL of the edge, whose roster the transceivers join. */
  edge: BaseUrlSchema,
  /** Base URL of the admin server of a relay that is a process of its own; this one has none then. */
  relayAdmin: v.optional(BaseUrlSchema),
  /** Health, metrics and dumps over HTTP. */
  admin: v.optional(Address, DEFAULT_ADMIN),
  transceivers: v.pipe(
    v.array(
      v.strictObject({
        id: TransceiverId,
        trunk: Address,
        capacity: Capacity,
      }),
    ),
    v.check(
      (list) => new Set(list.map(({ id }) => id)).size === list.length,
      'has two transceivers of one id',
    ),
  ),
  /** What speaks in calls. */
  backend: v.optional(BackendChoice, 'echo'),
  logLevel: LogLevel,
});
export type RegionConfig = v.InferOutput<typeof RegionConfigSchema>;

/** The configuration as it is written, before defaults. */
export type RegionConfigInput = v.InferInput<typeof RegionConfigSchema>;

/** @throws ConfigError */
export function parseRegionConfig(json: string): RegionConfig {
  return parseConfig(RegionConfigSchema, WHOSE, json);
}

/**
 * @param args Command line: nothing, or the path of a JSON file.
 * @throws ConfigError
 */
export async function readRegionConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<RegionConfig> {
  return parseRegionConfig(await readConfigText(args, env, REGION_CONFIG_VARIABLE));
}
