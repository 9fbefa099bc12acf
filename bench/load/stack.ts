/** A whole local system as the load meets it, with its callers. */
import { randomBytes } from 'node:crypto';
import { placeOfRegion } from '../../local/place.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { sha256 } from '../../local/tenants.ts';
import { untilNothingIsLeft } from '../soak/left.ts';
import { Callers } from './callers.ts';

/** Tenants that share the calls: each may start 100 a second at most, and the edge must not be the limit. */
const TENANTS = 20;

/** Processes of callers: a caller's DTLS costs as much as the other end's. */
const PROCESSES = 2;

export interface LoadStack extends AsyncDisposable {
  readonly stack: Stack;
  readonly callers: Callers;
  /** Process ids by name: the edge, regions, callers. */
  readonly pids: Readonly<Record<string, number>>;
  /** Waits until no call is left. @returns What is there when it has waited long enough. */
  untilNothingIsLeft(): Promise<string[]>;
}

/** @param onTrouble Called when a part of the system ends by itself. */
export async function startLoadStack(
  log: (line: string) => void,
  onTrouble: (line: string) => void,
): Promise<LoadStack> {
  await using opened = new AsyncDisposableStack();
  const adminKey = randomBytes(32).toString('base64url');
  const keys = Array.from({ length: TENANTS }, (_, i) => {
    return [`load${i}`, `sk_load${i}_${randomBytes(32).toString('base64url')}`] as const;
  });
  const tenants = Object.fromEntries(
    keys.map(([name, key]) => [name, { keys: [sha256(key)], callsPerMinute: 6000 }]),
  );
  const stack = await startStack({ tenants, adminKeyHash: sha256(adminKey), onTrouble });
  opened.defer(() => stack.close());
  const places = Object.values(stack.footprint).map(placeOfRegion);
  const options = { edge: stack.edge, places, keys: keys.map(([, key]) => key) };
  const callers = opened.use(await Callers.start(options, PROCESSES));
  const regions = [...stack.regions].map(([name, { pid }]) => [name, pid] as const);
  const calling = callers.pids.map((pid, i) => [`callers ${i + 1}`, pid] as const);
  const all = opened.move();
  return {
    stack,
    callers,
    pids: Object.fromEntries([['edge', stack.edgePid], ...regions, ...calling]),
    untilNothingIsLeft: () =>
      untilNothingIsLeft(stack, { adminKey, tenants: Object.keys(tenants), log }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
