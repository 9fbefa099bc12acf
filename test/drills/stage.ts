/** What a drill works with: it ends with the drill, however that ends. */
import { setTimeout as delay } from 'node:timers/promises';
import { placeOfRegion } from '../../local/place.ts';
import { Calls } from './calls.ts';
import type { Through } from './last-mile.ts';
import { Setups } from './setups.ts';
import { System } from './system.ts';

/** Milliseconds until what is awaited counts as never coming. */
const PATIENCE = 30_000;

/** Milliseconds between two looks. */
const LOOK = 20;

export interface StageOptions {
  /** Breaks the drill off. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export class Stage implements AsyncDisposable {
  readonly signal: AbortSignal;
  /** Tells people what goes on. */
  readonly log: (line: string) => void;
  readonly misses: string[] = [];
  readonly #props = new AsyncDisposableStack();

  constructor({ signal, log }: StageOptions) {
    this.signal = signal;
    this.log = log;
  }

  /** Notes what does not hold; the drill goes on. */
  must(holds: boolean, miss: string): void {
    if (!holds) this.misses.push(miss);
  }

  /** Ends it with the drill, before what was there earlier. */
  use<T extends AsyncDisposable>(prop: T): T {
    return this.#props.use(prop);
  }

  /** A whole system of its own. @param transceivers Of regions that have another number than usual. */
  async system(transceivers?: Readonly<Record<string, number>>): Promise<System> {
    return this.use(await System.start({ signal: this.signal, log: this.log, transceivers }));
  }

  /** Calls from the place of a region, each of which is heard. */
  async calls(system: System, from: string, count: number, through?: Through): Promise<Calls> {
    const place = placeOfRegion(system.footprint[from]!);
    const options = { edge: system.edge.url, place, ...(through && { through }) };
    const calls = this.use(await Calls.place(count, options));
    this.log(`${count} calls from ${from} are heard`);
    return calls;
  }

  /** Offers at a steady rate from the place of a region, from now on. */
  setups(system: System, from: string): Setups {
    return this.use(new Setups(system.edge.url, placeOfRegion(system.footprint[from]!)));
  }

  /** @throws when the drill is broken off meanwhile. */
  async pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.signal });
  }

  /**
   * Looks until it is so, and settles with the milliseconds that took.
   *
   * @param what For the error, as "the relay to be ready".
   * @throws Error when it takes longer than the patience in milliseconds.
   */
  async until(
    what: string,
    isSo: () => Promise<boolean> | boolean,
    patience = PATIENCE,
  ): Promise<number> {
    const start = performance.now();
    while (!(await isSo())) {
      if (performance.now() - start > patience) {
        throw new Error(`Waited ${patience / 1000} s for ${what}.`);
      }
      await this.pause(LOOK);
    }
    return performance.now() - start;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#props.disposeAsync();
  }
}
