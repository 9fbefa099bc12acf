/** The processes of the callers, as one. */
import { startChild, type Child } from '../../local/child.ts';
import { CALLERS_VARIABLE, type CallersOptions } from './callers-options.ts';
import type { CallersService, Repeated, SpokenTotals } from './callers-process.ts';

const MODULE = new URL('callers-process.ts', import.meta.url);

export class Callers implements AsyncDisposable {
  readonly #children: readonly Child<CallersService['answers']>[];

  private constructor(children: readonly Child<CallersService['answers']>[]) {
    this.#children = children;
  }

  static async start(options: Omit<CallersOptions, 'id'>, processes: number): Promise<Callers> {
    const starting = Array.from({ length: processes }, (_, i) => {
      const env = { [CALLERS_VARIABLE]: JSON.stringify({ ...options, id: i + 1 }) };
      return startChild<CallersService>({ name: `callers ${i + 1}`, module: MODULE, env });
    });
    const children = await Promise.all(starting);
    return new Callers(children.map(({ child }) => child));
  }

  get pids(): number[] {
    return this.#children.map(({ pid }) => pid);
  }

  /** @param count Calls of all processes together. */
  async place(count: number): Promise<void> {
    await Promise.all(this.#shares(count).map(([child, share]) => child.ask('place', share)));
  }

  async speak(seconds: number): Promise<void> {
    await Promise.all(this.#children.map((child) => child.ask('speak', seconds)));
  }

  async totals(): Promise<SpokenTotals> {
    const all = await Promise.all(this.#children.map((child) => child.ask('totals')));
    const sum = (of: (totals: SpokenTotals) => number) => all.reduce((n, it) => n + of(it), 0);
    return {
      sent: sum(({ sent }) => sent),
      received: sum(({ received }) => received),
      ended: sum(({ ended }) => ended),
      longestGap: Math.max(...all.map(({ longestGap }) => longestGap)),
      lost: all.flatMap(({ lost }) => lost),
    };
  }

  async hangUp(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.ask('hangUp')));
  }

  /** @param atOnce Calls that all processes together have at a time. */
  async repeat(atOnce: number, seconds: number): Promise<Repeated> {
    const all = await Promise.all(
      this.#shares(atOnce).map(([child, share]) => child.ask('repeat', { atOnce: share, seconds })),
    );
    return {
      took: all.flatMap(({ took }) => took),
      failures: all.flatMap(({ failures }) => failures),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map((child) => child.close()));
  }

  #shares(count: number): [Child<CallersService['answers']>, number][] {
    const { length } = this.#children;
    return this.#children.map((child, i) => [
      child,
      Math.floor(count / length) + (i < count % length ? 1 : 0),
    ]);
  }
}
