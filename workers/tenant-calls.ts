/**
 * Counts the calls of a tenant that has a cap, so that there are never more of them. One object per tenant.
 *
 * A call that ends through the edge makes room at once. Of one that ends otherwise the object learns when there is
 * no room: the rosters say how many calls there are. Which ones they are does not matter: it is only counted.
 */
import { DurableObject } from 'cloudflare:workers';
import { ROSTER_DEAD, ROSTER_HEARTBEAT } from '../protocol/roster.ts';
import { CallRows } from './call-rows.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { CALL_DEADLINE } from './tries.ts';
import { within } from './within.ts';

/**
 * Milliseconds after which a call that goes on is in every report that counts: a report may be as old as that of
 * a transceiver about to be dead, a little late, and the call may have been placed with its last try.
 */
export const SETTLED = ROSTER_DEAD + ROSTER_HEARTBEAT + CALL_DEADLINE;

/** Milliseconds between two looks at the rosters, however many calls are refused. */
export const LOOK_EVERY = 500;

/** Milliseconds that a roster has to say how many calls there are. */
const ROSTER_TIMEOUT = 1_000;

export class TenantCalls extends DurableObject<Env> {
  readonly #rows: CallRows;
  #look: Promise<void> | undefined;
  #lookedAt = -Infinity;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#rows = new CallRows(context.storage.sql);
  }

  /** Lets a call in, unless there are `cap` calls. @param cluster Id of the cluster it is likely to go to. */
  async admit(call: string, cluster: number, cap: number): Promise<boolean> {
    if (this.#rows.size >= cap) await this.#forgetEnded();
    if (this.#rows.size >= cap) return false;
    this.#rows.set({ call, cluster, since: Date.now() });
    return true;
  }

  /** A call that was let in goes to that cluster, under that name. */
  move(from: string, to: string, cluster: number): void {
    const { since } = this.#rows.get(from) ?? { since: Date.now() };
    this.#rows.delete(from);
    this.#rows.set({ call: to, cluster, since });
  }

  /** The call has ended, or never came to be. */
  release(call: string): void {
    this.#rows.delete(call);
  }

  /** How many calls there are, as far as is known. */
  async count(): Promise<number> {
    await this.#forgetEnded();
    return this.#rows.size;
  }

  async #forgetEnded(): Promise<void> {
    if (Date.now() - this.#lookedAt < LOOK_EVERY) return;
    this.#look ??= this.#lookAtRosters().finally(() => {
      this.#look = undefined;
      this.#lookedAt = Date.now();
    });
    await this.#look;
  }

  async #lookAtRosters(): Promise<void> {
    const now = Date.now();
    this.#rows.expire(now - SESSION_LIFETIME - CALL_DEADLINE);
    await Promise.all(
      [...this.#rows.clusters()].map(async (cluster) => {
        const reported = await this.#reportedIn(cluster);
        if (reported === undefined) return;
        const rows = this.#rows.of(cluster);
        const settled = rows.filter(({ since }) => since <= now - SETTLED);
        const ended = Math.max(0, settled.length - reported);
        for (const { call } of settled.slice(0, ended)) this.#rows.delete(call);
      }),
    );
  }

  /** Undefined when that is not known now. */
  async #reportedIn(cluster: number): Promise<number | undefined> {
    const tenant = this.#tenant();
    const roster = this.env.ROSTER.getByName(String(cluster));
    try {
      return await within(ROSTER_TIMEOUT, roster.callsOf(tenant));
    } catch (error) {
      const message =
        'a roster does not say how many calls a tenant has; those counted go on to count';
      console.warn({ message, tenant, cluster, error: String(error) });
      return undefined;
    }
  }

  /** The object is named for its tenant. */
  #tenant(): string {
    return this.ctx.id.name ?? '';
  }
}
