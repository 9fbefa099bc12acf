/** What the configurations of all origin processes have in common: JSON in a file or the environment. */
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';

export const MAX_PORT = 65_535;
export const MAX_TRANSCEIVER = 0xffff;

/** A timer takes no more milliseconds. */
const MAX_DURATION = 0x7f_ff_ff_ff;

/** Sessions a transceiver takes unless told otherwise; one thread carries about this many. */
const DEFAULT_CAPACITY = 200;

const Port = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_PORT));

/** Milliseconds. */
export const Duration = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_DURATION));

/** Sessions of one transceiver. */
export const Capacity = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(1)),
  DEFAULT_CAPACITY,
);

export const ClusterId = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(0xffff));
export const TransceiverId = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(MAX_TRANSCEIVER),
);

export const Cidr = v.pipe(
  v.string(),
  v.check((text) => ipaddr.isValidCIDR(text), 'is not a network, as 10.0.0.0/8'),
);

/** An address to bind or to reach; port 0 binds a free one. */
export const Address = v.strictObject({ address: v.pipe(v.string(), v.ip()), port: Port });
export const Addresses = v.pipe(v.array(Address), v.minLength(1));

/** Where a relay listens. */
export const RelaySockets = v.strictObject({
  /** Public UDP sockets. */
  listeners: Addresses,
  trunk: Address,
  /** For clients without UDP: public TCP sockets, and a trunk for what is theirs. */
  tcp: v.optional(v.strictObject({ listeners: Addresses, trunk: Address })),
});

/** How a relay reaches other clusters. */
export const Routes = v.array(
  v.strictObject({ cluster: ClusterId, region: v.string(), relays: Addresses }),
);

export const LogLevel = v.optional(
  v.picklist(['debug', 'info', 'warn', 'error', 'silent']),
  'info',
);

/** A configuration that does not fit; the message lists every fault and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The text as it was, once `parse` takes it; its error message must not show the text. */
export function secret(parse: (text: string) => unknown) {
  return v.pipe(
    v.string('must be a text'),
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

/**
 * @param whose For messages, as "The region's".
 * @throws ConfigError
 */
export function parseConfig<S extends v.GenericSchema>(
  schema: S,
  whose: string,
  json: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, parseJson(whose, json));
  if (result.success) return result.output;
  const faults = result.issues.map(
    (issue) => `  ${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`,
  );
  throw new ConfigError(`${whose} configuration does not fit:\n${faults.join('\n')}`);
}

/**
 * The text of the file that the command line names, else that of the variable.
 *
 * @param args Command line: nothing, or the path of a JSON file.
 * @throws ConfigError
 */
export async function readConfigText(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
): Promise<string> {
  const [path, ...rest] = args;
  if (rest.length > 0) throw new ConfigError('Give one path of a configuration file, no more.');
  if (path !== undefined) return readText(path);
  const json = env[variable];
  if (json) return json;
  throw new ConfigError(`Give the path of a configuration file, or its JSON in ${variable}.`);
}

function parseJson(whose: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, which may be a key.
    throw new ConfigError(`${whose} configuration is not JSON.`);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`The configuration file cannot be read: ${reason}`);
  }
}
