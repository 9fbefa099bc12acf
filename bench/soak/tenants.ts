/** The tenants of a soak, one for each kind of call, and how they show who they are. */
import { createHash, randomBytes } from 'node:crypto';
import { CALLS_PER_MINUTE, CAP, type Kind } from './plan.ts';

const LIMITS: Readonly<Record<Kind, object>> = {
  free: { callsPerMinute: 6000 },
  capped: { callsPerMinute: 6000, concurrentCalls: CAP },
  left: { callsPerMinute: 6000, concurrentCalls: CAP },
  limited: { callsPerMinute: CALLS_PER_MINUTE },
};

export const KINDS: readonly Kind[] = ['free', 'capped', 'left', 'limited'];

export interface SoakTenants {
  /** As the edge has them in KV; each kind of call is of the tenant of its name. */
  readonly tenants: Readonly<Record<string, object>>;
  /** API keys by kind. */
  readonly keys: Readonly<Record<Kind, string>>;
}

export function makeTenants(): SoakTenants {
  const keys = {
    free: keyOf('free'),
    capped: keyOf('capped'),
    left: keyOf('left'),
    limited: keyOf('limited'),
  };
  const tenants = Object.fromEntries(
    KINDS.map((kind) => {
      return [kind, { keys: [sha256(keys[kind])], ...LIMITS[kind] }];
    }),
  );
  return { tenants, keys };
}

function keyOf(kind: Kind): string {
  return `sk_${kind}_${randomBytes(32).toString('base64url')}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
