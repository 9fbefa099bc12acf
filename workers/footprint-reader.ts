/** The steering table as requests read it: from the isolate, parsed once per refresh. */
import * as v from 'valibot';
import { SteeringTableSchema } from '../protocol/footprint.ts';
// As JSON it becomes part of the one module that a deployment uploads.
import bundledTable from './default-steering.json' with { type: 'json' };
import { drain, readDrained } from './drained.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import { steeringIndex, type SteeringIndex } from './steering.ts';

/** The table's key in the FOOTPRINT namespace. */
export const STEERING_KEY = 'steering';

/** Milliseconds after which a new table is looked for; a change of the footprint shows this late. */
export const FOOTPRINT_FRESH = 10_000;

/** Seconds the colo keeps what it read from KV; the least that KV takes. */
const KV_CACHE_TTL = 30;

const HOW = `Write it with: wrangler kv key put --binding FOOTPRINT ${STEERING_KEY} --path steering.json`;

/** There is no table, or none that can be read; the message says what to do. */
export class FootprintUnavailable extends Error {
  override readonly name = 'FootprintUnavailable';
  readonly malformed: boolean;

  constructor(message: string, malformed: boolean) {
    super(`${message} ${HOW}`);
    this.malformed = malformed;
  }
}

/** Holds the table of an isolate. */
export class FootprintReader {
  // A table that once was good beats none, however long the store is away.
  readonly #cache = new RefreshingCache<SteeringIndex>({ fresh: FOOTPRINT_FRESH, stale: Infinity });
  readonly #bundled: unknown;
  /** What was read last and what it says, so that only a change costs the parsing. */
  #parsed: { readonly text: string; readonly index: SteeringIndex } | undefined;

  /** @param bundled The table that the Worker was deployed with; null when there is none. */
  constructor(bundled: unknown) {
    this.#bundled = bundled;
  }

  /** @throws FootprintUnavailable when there was never a good table. */
  read(
    namespace: KVNamespace,
    background: (work: Promise<unknown>) => void,
  ): Promise<SteeringIndex> {
    return this.#cache.get(
      () => this.#loadDrained(namespace, background),
      background,
      (error) =>
        console.error({ message: 'the steering table stays as it was', error: String(error) }),
    );
  }

  /** Takes up at once what was changed by this isolate. @throws FootprintUnavailable */
  async renew(namespace: KVNamespace, background: (work: Promise<unknown>) => void): Promise<void> {
    await this.#cache.renew(() => this.#loadDrained(namespace, background));
  }

  async #loadDrained(
    namespace: KVNamespace,
    background: (work: Promise<unknown>) => void,
  ): Promise<SteeringIndex> {
    return drain(await this.#load(namespace), await readDrained(namespace, background));
  }

  async #load(namespace: KVNamespace): Promise<SteeringIndex> {
    try {
      const text = await namespace.get(STEERING_KEY, { cacheTtl: KV_CACHE_TTL });
      if (text === null) {
        throw new FootprintUnavailable('The steering table is missing from KV.', false);
      }
      if (this.#parsed?.text !== text) this.#parsed = { text, index: parseSteering(text) };
      return this.#parsed.index;
    } catch (error) {
      if (this.#parsed) throw error;
      return defaultIndex(this.#bundled, error);
    }
  }
}

/** Of this isolate. */
export const footprint = new FootprintReader(bundledTable);

/**
 * The table that the Worker was deployed with, for a store that has none or cannot be read.
 *
 * @param table Null when there is none.
 * @throws What went wrong with the store when there is no such table; FootprintUnavailable when it does not fit.
 */
export function defaultIndex(table: unknown, error: unknown): SteeringIndex {
  if (table === null) throw error;
  console.error({ message: 'steering by the bundled table', error: String(error) });
  return checkedIndex(table, 'bundled with the Worker');
}

/** @throws FootprintUnavailable */
export function parseSteering(text: string): SteeringIndex {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new FootprintUnavailable('The steering table in KV is not JSON.', true);
  }
  return checkedIndex(json, 'in KV');
}

function checkedIndex(table: unknown, place: string): SteeringIndex {
  const result = v.safeParse(SteeringTableSchema, table);
  if (result.success) return steeringIndex(result.output);
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the table';
  throw new FootprintUnavailable(
    `The steering table ${place} does not fit at ${where}: ${issue.message}.`,
    true,
  );
}
