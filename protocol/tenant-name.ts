/** Names of tenants: parts of API keys, KV keys and reports, so they have neither `_` nor `:`. */

export const TENANT_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

export function isTenantName(name: string): boolean {
  return TENANT_NAME.test(name);
}
