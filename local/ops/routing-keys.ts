/** Routing keys for those who look into a deployment: from the environment or a file, never an argument. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { OptionsError } from '../../origin/command-line.ts';
import { reasonsOf } from '../../origin/reasons.ts';
import { parseRoutingKeys, type RoutingKey } from '../../protocol/routing-keys.ts';

const ConfigSchema = v.object({ routingKeys: v.string() });

/**
 * @param file Holds the text of `protocol/routing-keys.ts`, or a configuration in JSON with it; ROUTING_KEYS
 *   does unless it is given.
 * @throws OptionsError that never shows a key.
 */
export async function readRoutingKeys(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly [RoutingKey, ...RoutingKey[]]> {
  const text = file === undefined ? env.ROUTING_KEYS : await textOf(file);
  if (text === undefined || text.trim() === '') {
    throw new OptionsError(
      'Without a routing key nothing can be opened: put into ROUTING_KEYS what the edge has as the secret of that name, or name a file of the same text by --keys.',
    );
  }
  try {
    return parseRoutingKeys(text.trim());
  } catch (error) {
    throw new OptionsError(reasonsOf(error), { cause: error });
  }
}

async function textOf(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new OptionsError(`--keys ${file} cannot be read: ${reasonsOf(error)}.`, { cause: error });
  }
  if (!text.trimStart().startsWith('{')) return text;
  try {
    return v.parse(ConfigSchema, JSON.parse(text)).routingKeys;
  } catch (error) {
    // What JSON.parse says of a fault shows some of the text.
    throw new OptionsError(`--keys ${file} is no JSON with the text routingKeys in it.`, {
      cause: error,
    });
  }
}
