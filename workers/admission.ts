/**
 * The place of a call among those that its tenant may have at a time. A cap guards cost: while the object that
 * counts cannot be reached, calls are taken all the same.
 */
import type { CallRef } from '../protocol/call-id.ts';
import { problemResponse } from '../protocol/problem.ts';
import type { EdgeContext } from './edge.ts';
import { within } from './within.ts';

/** Milliseconds that the object may take, which asks rosters itself when there is no room. */
export const ADMISSION_TIMEOUT = 2_500;

/** Seconds until a tenant that has too many calls may come again. */
const RETRY_AFTER_CAP = '5';

type CountedCall = Pick<CallRef, 'call' | 'cluster'>;

export class Admission {
  /** False when there is no room. Never rejects. */
  readonly granted: Promise<boolean>;
  readonly #context: EdgeContext;
  #at: CountedCall;

  private constructor(context: EdgeContext, at: CountedCall, cap: number) {
    this.#context = context;
    this.#at = at;
    const { call, cluster } = at;
    this.granted = count(context, true, (calls) => calls.admit(call, cluster, cap));
  }

  /**
   * Asks for a place; undefined for a tenant whose calls are not counted.
   *
   * @param at The call, and where it is likely to go.
   */
  static ask(context: EdgeContext, at: CountedCall): Admission | undefined {
    const { concurrentCalls } = context.get('caller').tenant;
    return concurrentCalls === undefined ? undefined : new Admission(context, at, concurrentCalls);
  }

  /** The place is that of this call from now on. Never rejects. */
  async move(to: CountedCall): Promise<void> {
    const from = this.#at;
    if (from.call === to.call && from.cluster === to.cluster) return;
    this.#at = to;
    await count(this.#context, undefined, (calls) => calls.move(from.call, to.call, to.cluster));
  }

  /** Nothing came of the call. Never rejects. */
  async giveBack(): Promise<void> {
    if (await this.granted) await release(this.#context, this.#at);
  }
}

/** Makes room for another call, now that this one has ended. Never rejects. */
export async function giveBackEnded(context: EdgeContext, ended: CountedCall): Promise<void> {
  const { concurrentCalls } = context.get('caller').tenant;
  if (concurrentCalls !== undefined) await release(context, ended);
}

export function tooManyCalls(context: EdgeContext): Response {
  const { name, tenant } = context.get('caller');
  const detail = `The tenant ${name} may have ${tenant.concurrentCalls} calls at a time; end one first.`;
  return problemResponse('too-many-calls', detail, { 'retry-after': RETRY_AFTER_CAP });
}

function release(context: EdgeContext, { call }: CountedCall): Promise<void> {
  return count(context, undefined, (calls) => calls.release(call));
}

/** What the object says, or the other value when it says nothing. */
async function count<T>(
  context: EdgeContext,
  otherwise: T,
  ask: (calls: ReturnType<Env['TENANT_CALLS']['getByName']>) => Promise<T>,
): Promise<T> {
  const { name: tenant } = context.get('caller');
  try {
    return await within(ADMISSION_TIMEOUT, ask(context.env.TENANT_CALLS.getByName(tenant)));
  } catch (error) {
    console.error({
      message:
        'the calls of a tenant cannot be counted, so its cap does not hold now; ' +
        'see whether the Durable Objects of TENANT_CALLS are there',
      requestId: context.get('requestId'),
      tenant,
      error: String(error),
    });
    return otherwise;
  }
}
