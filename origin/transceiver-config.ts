/**
 * What the processes of a machine's transceivers must know, as JSON: from the environment or from a file.
 * They share it: each adds its index to the id and to every port that is not 0.
 */
import * as v from 'valibot';
import { BaseUrlSchema } from '../protocol/base-url.ts';
import type { TrunkAddress } from '../protocol/footprint.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys } from '../protocol/signature.ts';
import { BackendChoice } from './backend/backends.ts';
import {
  Address,
  Capacity,
  Cidr,
  ClusterId,
  ConfigError,
  Duration,
  LogLevel,
  MAX_PORT,
  MAX_TRANSCEIVER,
  TransceiverId,
  parseConfig,
  readConfigText,
  secret,
} from './config.ts';
import { DRAIN_TIME } from './transceiver/drain.ts';
import { DEFAULT_LIMITS } from './transceiver/session-limits.ts';

/** The environment variable that holds the whole configuration as JSON. */
export const TRANSCEIVER_CONFIG_VARIABLE = 'TRANSCEIVER_CONFIG';

/** The environment variable that tells the processes of a machine apart: 0, 1, and so on. */
export const TRANSCEIVER_INDEX_VARIABLE = 'TRANSCEIVER_INDEX';

/** Most processes of a machine; no machine of a region has as many processors. */
const MAX_INDEX = 1_023;

/** Where metrics and health of the first process are asked for unless told otherwise. */
const DEFAULT_ADMIN = { address: '127.0.0.1', port: 9_500 };

export const TransceiverConfigSchema = v.strictObject({
  cluster: ClusterId,
  /** Of the first process. */
  id: TransceiverId,
  trunk: Address,
  /** Networks whose trunk frames are accepted. */
  peers: v.pipe(v.array(Cidr), v.minLength(1)),
  /** Sessions of one process. */
  capacity: Capacity,
  /** Text of `protocol/routing-keys.ts`, with which relays are told where this is. */
  routingKeys: secret(parseRoutingKeys),
  /** Text of `protocol/signature.ts`, one key or two. */
  signingKey: secret(parseSigningKeys),
  /** Where signed requests come in, from the edge and from the cluster's other transceivers. */
  signaling: Address,
  /** Base URL of the edge, whose roster it joins. */
  edge: BaseUrlSchema,
  /** What speaks in calls. */
  backend: v.optional(BackendChoice, 'echo'),
  /** Health, metrics and dumps over HTTP. */
  admin: v.optional(Address, DEFAULT_ADMIN),
  /** Milliseconds a session may take to be set up, be silent, and last. */
  limits: v.optional(
    v.strictObject({
      setup: v.optional(Duration, DEFAULT_LIMITS.setup),
      idle: v.optional(Duration, DEFAULT_LIMITS.idle),
      length: v.optional(Duration, DEFAULT_LIMITS.length),
    }),
    {},
  ),
  /** Milliseconds that calls may go on for after SIGTERM. */
  drain: v.optional(Duration, DRAIN_TIME),
  logLevel: LogLevel,
});
export type TransceiverConfig = v.InferOutput<typeof TransceiverConfigSchema>;

/** The configuration as it is written, before defaults. */
export type TransceiverConfigInput = v.InferInput<typeof TransceiverConfigSchema>;

/**
 * @param args Command line: nothing, or the path of a JSON file.
 * @returns That of the process whose index the environment gives; of the first one without.
 * @throws ConfigError
 */
export async function readTransceiverConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<TransceiverConfig> {
  const text = await readConfigText(args, env, TRANSCEIVER_CONFIG_VARIABLE);
  const config = parseConfig(TransceiverConfigSchema, "The transceiver's", text);
  return configOf(parseIndex(env[TRANSCEIVER_INDEX_VARIABLE] || '0'), config);
}

function parseIndex(text: string): number {
  const index = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
  if (index <= MAX_INDEX) return index;
  throw new ConfigError(`${TRANSCEIVER_INDEX_VARIABLE} must be a number from 0 to ${MAX_INDEX}.`);
}

/** @throws ConfigError when an id or port would be too large. */
function configOf(index: number, config: TransceiverConfig): TransceiverConfig {
  const id = config.id + index;
  if (id > MAX_TRANSCEIVER) {
    throw new ConfigError(`The id ${config.id} plus the index ${index} is above 65535.`);
  }
  const { trunk, signaling, admin } = config;
  return {
    ...config,
    id,
    trunk: shifted(trunk, index),
    signaling: shifted(signaling, index),
    admin: shifted(admin, index),
  };
}

function shifted({ address, port }: TrunkAddress, index: number): TrunkAddress {
  if (port === 0) return { address, port };
  if (port + index > MAX_PORT) {
    throw new ConfigError(`The port ${port} plus the index ${index} is above 65535.`);
  }
  return { address, port: port + index };
}
