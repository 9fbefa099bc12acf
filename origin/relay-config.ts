/** What the process of a relay alone must know, as JSON: from the environment or from a file. */
import * as v from 'valibot';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import {
  Address,
  Cidr,
  ClusterId,
  ConfigError,
  LogLevel,
  RelaySockets,
  Routes,
  TransceiverId,
  parseConfig,
  readConfigText,
  secret,
} from './config.ts';
import { requireRedisUrl } from './redis/redis-url.ts';
import { DRAIN_QUIET, DRAIN_TIME } from './relay/drain.ts';

/** The environment variable that holds the whole configuration as JSON. */
export const RELAY_CONFIG_VARIABLE = 'RELAY_CONFIG';

/** The environment variable with the address of Redis, which may hold a password. */
export const REDIS_URL_VARIABLE = 'REDIS_URL';

/** Where metrics and health are asked for unless told otherwise; a free port of Prometheus' list. */
const DEFAULT_ADMIN = { address: '127.0.0.1', port: 9478 };

/** Threads at most; more than any machine of a pool has processors. */
const MAX_THREADS = 64;

/** A timer takes no more milliseconds. */
const MAX_DURATION = 0x7f_ff_ff_ff;

const Duration = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_DURATION));

export const RelayConfigSchema = v.strictObject({
  cluster: ClusterId,
  relay: RelaySockets,
  /** Networks whose trunk frames are accepted. */
  peers: v.pipe(v.array(Cidr), v.minLength(1)),
  routes: v.optional(Routes, []),
  /** Text of `protocol/routing-keys.ts`. */
  routingKeys: secret(parseRoutingKeys),
  /** The cluster's transceivers, for a relay without Redis. */
  transceivers: v.optional(v.array(v.strictObject({ id: TransceiverId, trunk: Address })), []),
  threads: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_THREADS)), 1),
  /** Health, metrics and dumps over HTTP. */
  admin: v.optional(Address, DEFAULT_ADMIN),
  /** Milliseconds to forward on after SIGTERM, at most and without packets. */
  drain: v.optional(
    v.strictObject({
      time: v.optional(Duration, DRAIN_TIME),
      quiet: v.optional(Duration, DRAIN_QUIET),
    }),
    {},
  ),
  /**
   * Base URL of the admin server of a relay on this machine, to take its place without a gap: takes over
   * its flows and addresses, which that one holds on to until it has drained. The trunk of TCP and
   * `admin` must be others than its.
   */
  replaces: v.optional(v.pipe(v.string(), v.url())),
  logLevel: LogLevel,
});
export type RelayConfig = v.InferOutput<typeof RelayConfigSchema>;

/** The configuration as it is written, before defaults. */
export type RelayConfigInput = v.InferInput<typeof RelayConfigSchema>;

/** @throws ConfigError */
export function parseRelayConfig(json: string): RelayConfig {
  return parseConfig(RelayConfigSchema, "The relay's", json);
}

/**
 * @param args Command line: nothing, or the path of a JSON file.
 * @throws ConfigError
 */
export async function readRelayConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<RelayConfig> {
  requireRedis(env[REDIS_URL_VARIABLE]);
  return parseRelayConfig(await readConfigText(args, env, RELAY_CONFIG_VARIABLE));
}

/** An empty one counts as none. */
function requireRedis(url: string | undefined): void {
  if (!url) return;
  try {
    requireRedisUrl(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${REDIS_URL_VARIABLE} ${reason}`);
  }
}
