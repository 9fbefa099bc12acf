/** Tenants: whose calls the edge takes, by which keys, from which pages, and how many. */
import * as v from 'valibot';
import { isTenantName } from '../protocol/tenant-name.ts';
import { RefreshingCache } from './refreshing-cache.ts';

/** The tenant of callers who show nothing. Unless there is one of this name, they are refused. */
export const PUBLIC_TENANT = 'public';

/** Milliseconds a tenant's configuration counts as new, and is used while a newer one is read. */
export const TENANT_FRESH = 10_000;
export const TENANT_STALE = 60_000;

/** Seconds the colo keeps what it read from KV; the least that KV takes. */
const KV_CACHE_TTL = 30;

/** Tenants an isolate holds at most; names that were made up go before those of tenants. */
const MAX_HELD = 1_000;

/** Most calls that a cap can be: as many as the object that counts them holds with ease. */
export const MAX_CONCURRENT_CALLS = 100_000;

/** Of one tenant, under its name in the TENANTS namespace. */
export const TenantSchema = v.strictObject({
  /** SHA-256 of each of its API keys in hexadecimal. Two or more while keys are replaced. */
  keys: v.array(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'not a SHA-256 in hexadecimal'))),
  /** Origins of pages that may call, as browsers write them (RFC 6454 §6.2); any when left out. */
  origins: v.optional(
    v.array(
      v.pipe(
        v.string(),
        v.check(isOrigin, 'not an origin as browsers send it: https://example.com'),
      ),
    ),
  ),
  /** Calls that may start in a minute at one colo: those that a rate limit is bound for. */
  callsPerMinute: v.picklist([60, 600, 6000]),
  /** Calls at a time, all over the world; without it they are not counted. */
  concurrentCalls: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_CONCURRENT_CALLS)),
  ),
});
export type Tenant = v.InferOutput<typeof TenantSchema>;

/** A tenant's configuration cannot be read; the message says what to do. */
export class TenantError extends Error {
  override readonly name = 'TenantError';
}

interface Held {
  readonly cache: RefreshingCache<Tenant | undefined>;
  /** What was read last, however long ago: it beats none while the store is away. */
  last?: { readonly tenant: Tenant | undefined };
}

const held = new Map<string, Held>();

/**
 * A change shows within {@link TENANT_FRESH} where calls are frequent, else within
 * {@link TENANT_STALE}, and half a minute later for what KV keeps in each colo.
 *
 * @returns Undefined when there is no tenant of that name.
 * @throws TenantError
 */
export async function readTenant(
  namespace: KVNamespace,
  name: string,
  background: (work: Promise<unknown>) => void,
): Promise<Tenant | undefined> {
  if (!isTenantName(name)) return undefined;
  const entry = heldFor(name);
  const load = async () => {
    const text = await namespace.get(name, { cacheTtl: KV_CACHE_TTL });
    const tenant = text === null ? undefined : parseTenant(name, text);
    entry.last = { tenant };
    return tenant;
  };
  const onError = (error: unknown) =>
    console.error({ message: 'a tenant stays as it was', tenant: name, error: String(error) });
  try {
    return await entry.cache.get(load, background, onError);
  } catch (error) {
    if (entry.last === undefined) throw error;
    onError(error);
    return entry.last.tenant;
  }
}

function heldFor(name: string): Held {
  let entry = held.get(name);
  if (!entry) {
    if (held.size >= MAX_HELD) held.delete(leastNeeded());
    entry = { cache: new RefreshingCache({ fresh: TENANT_FRESH, stale: TENANT_STALE }) };
    held.set(name, entry);
  }
  return entry;
}

/** The oldest name that is no tenant's, else the oldest. */
function leastNeeded(): string {
  const [oldest = ''] = held.keys();
  for (const [name, { last }] of held) if (last?.tenant === undefined) return name;
  return oldest;
}

/** Neither a path, a default port, a capital letter nor a pattern is in what a browser sends. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** @throws TenantError */
export function parseTenant(name: string, text: string): Tenant {
  const how = `Write it with: wrangler kv key put --binding TENANTS ${name} --path tenant.json`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new TenantError(`The tenant ${name} in KV is not JSON. ${how}`);
  }
  const result = v.safeParse(TenantSchema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the tenant';
  throw new TenantError(
    `The tenant ${name} in KV does not fit at ${where}: ${issue.message}. ${how}`,
  );
}
