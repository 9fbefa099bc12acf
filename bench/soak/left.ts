/** Waits until nothing of any call is left: sessions, entries of rosters, calls counted. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../local/stack.ts';
import { sessionsOf } from '../../test/support/sessions.ts';

/** Milliseconds until everything that was left must be gone, and between two looks. */
const SETTLE_TIME = 90_000;
const SETTLE_POLL = 1_000;

export interface LeftOptions {
  /** Of the edge's admin API. */
  readonly adminKey: string;
  /** Tenants whose calls are counted. */
  readonly tenants: readonly string[];
  readonly log: (line: string) => void;
}

/** @returns What is still there when the time is up. */
export async function untilNothingIsLeft(
  stack: Stack,
  { adminKey, tenants, log }: LeftOptions,
): Promise<string[]> {
  const deadline = performance.now() + SETTLE_TIME;
  for (;;) {
    const left = await whatIsLeft(stack, adminKey, tenants);
    if (left.length === 0 || performance.now() > deadline) return left;
    log(`left: ${left.join(', ')}`);
    await delay(SETTLE_POLL);
  }
}

interface Clusters {
  readonly clusters: readonly {
    readonly region: string;
    readonly roster: readonly { readonly transceiver: number; readonly sessions: number }[];
  }[];
}

async function whatIsLeft(
  stack: Stack,
  adminKey: string,
  tenants: readonly string[],
): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => {
    const headers = { authorization: `Bearer ${adminKey}` };
    const response = await fetch(`${stack.edge}/admin/${path}`, { headers });
    if (response.status !== 200) throw new Error(`/admin/${path} gave ${response.status}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both sides are of one version
    return (await response.json()) as T;
  };
  const left: string[] = [];
  for (const [region, sessions] of Object.entries(await sessionsOf(stack))) {
    left.push(`${sessions} sessions in ${region}`);
  }
  const { clusters } = await read<Clusters>('clusters');
  for (const { region, roster } of clusters) {
    if (roster.length === 0) left.push(`nobody on the roster of ${region}`);
    for (const { transceiver, sessions } of roster) {
      if (sessions > 0) left.push(`${sessions} on the roster for ${region}/${transceiver}`);
    }
  }
  for (const tenant of tenants) {
    const { calls } = await read<{ calls: number | null }>(`tenants/${tenant}`);
    if (calls !== null && calls > 0) left.push(`${calls} calls counted for ${tenant}`);
  }
  return left;
}
