/** Who calls: an API key, a client secret, or nobody in particular makes a request some tenant's. */
import type { ProblemName } from '../protocol/problem.ts';
import type { SessionConfig } from '../protocol/session-config.ts';
import { isKeyOf, tenantOfKey } from './api-keys.ts';
import {
  ClientSecretError,
  MAX_SECRET_LENGTH,
  SECRET_PREFIX,
  type ClientSecrets,
} from './client-secrets.ts';
import { PUBLIC_TENANT, type Tenant } from './tenants.ts';

/** Characters of the longest Authorization header that is looked into. */
export const MAX_AUTHORIZATION_LENGTH = MAX_SECRET_LENGTH + 'Bearer '.length;

export interface Caller {
  /** Name of the tenant. */
  readonly name: string;
  readonly tenant: Tenant;
  readonly by: 'api-key' | 'client-secret' | 'nothing';
  /** What the client secret says of its sessions. */
  readonly session?: SessionConfig | undefined;
}

/** Why a request is nobody's, as the problem to answer with. */
export interface Refusal {
  readonly problem: ProblemName;
  readonly detail: string;
}

export interface CallerOptions {
  /** Asked for only when a client secret is shown. */
  readonly secrets: () => ClientSecrets;
  readonly readTenant: (name: string) => Promise<Tenant | undefined>;
  /** Seconds after its end for which a client secret still counts. */
  readonly grace?: number;
}

const UNKNOWN_KEY = refuse('The API key is not one of those in use.');

/** @param authorization The header's value. @throws TenantError */
export async function findCaller(
  authorization: string | undefined,
  { secrets, readTenant, grace = 0 }: CallerOptions,
): Promise<Caller | Refusal> {
  if (authorization === undefined) {
    const tenant = await readTenant(PUBLIC_TENANT);
    if (tenant) return { name: PUBLIC_TENANT, tenant, by: 'nothing' };
    return refuse('Send Authorization: Bearer and a client secret or an API key.');
  }
  if (authorization.length > MAX_AUTHORIZATION_LENGTH) {
    return refuse(`An Authorization header has at most ${MAX_AUTHORIZATION_LENGTH} characters.`);
  }
  const credential = /^Bearer +([!-~]+)$/i.exec(authorization)?.[1];
  if (!credential) return refuse('Send the client secret or the API key as a Bearer token.');
  if (credential.startsWith(SECRET_PREFIX)) {
    return holderOfSecret(credential, { secrets, readTenant, grace });
  }
  const name = tenantOfKey(credential);
  if (name === undefined) return refuse('A client secret begins with ek_, an API key with sk_.');
  const tenant = await readTenant(name);
  return tenant && isKeyOf(tenant.keys, credential) ? { name, tenant, by: 'api-key' } : UNKNOWN_KEY;
}

async function holderOfSecret(
  secret: string,
  { secrets, readTenant, grace = 0 }: CallerOptions,
): Promise<Caller | Refusal> {
  try {
    const { tenant: name, session } = await secrets().verify(secret, grace);
    const tenant = await readTenant(name);
    if (!tenant) return refuse('The client secret is of a tenant that is gone.');
    return { name, tenant, by: 'client-secret', session };
  } catch (error) {
    if (!(error instanceof ClientSecretError)) throw error;
    return refuse(`The client secret is not good: ${error.message}.`);
  }
}

/**
 * Whether a page may use the tenant's calls. Preflights cannot tell tenants apart, for they carry no
 * credentials, so it is the request itself that is judged, before anything is done for it.
 *
 * @param origin The header's value; what is not a browser sends none.
 */
export function refuseOrigin(
  { name, tenant }: Caller,
  origin: string | undefined,
): Refusal | undefined {
  if (origin === undefined || !tenant.origins || tenant.origins.includes(origin)) return undefined;
  const detail = `The tenant ${name} takes no calls from pages of ${origin.slice(0, 128)}.`;
  return { problem: 'forbidden', detail };
}

function refuse(detail: string): Refusal {
  return { problem: 'unauthorized', detail };
}
