/** Offers at a steady rate while a fault lasts, and what became of each; each call that is taken is ended at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { readRelayPath } from '../../local/answer.ts';
import { placeHeaders, type Place } from '../../local/place.ts';
import { OFFER, postOffer } from '../support/offers.ts';

/** Milliseconds between two offers. */
const INTERVAL = 500;

/** Milliseconds before a client offers again what was not taken, twice as long each time up to a limit, and gives up. */
const FIRST_RETRY = 500;
const LAST_RETRY = 4_000;
const PATIENCE = 45_000;

export interface Setup {
  /** Of `performance.now`: the first offer, and the answer that took it. */
  readonly askedAt: number;
  readonly takenAt: number | undefined;
  /** How often it was offered. */
  readonly tries: number;
  /** Region of the cluster that took it. */
  readonly region: string | undefined;
  /** Why the last try failed, if one did. */
  readonly why: string | undefined;
}

export class Setups implements AsyncDisposable {
  readonly #edge: string;
  readonly #place: Place;
  readonly #all: Promise<Setup>[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #ended = new AbortController();

  /** Offers from now on. */
  constructor(edge: string, place: Place) {
    this.#edge = edge;
    this.#place = place;
    this.#timer = setInterval(() => this.#all.push(this.#setUp()), INTERVAL);
  }

  /** Offers no more, and settles once each offer has been taken or given up, in the order of the first tries. */
  async end(): Promise<readonly Setup[]> {
    clearInterval(this.#timer);
    return Promise.all(this.#all);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.end();
  }

  async #setUp(): Promise<Setup> {
    const askedAt = performance.now();
    let why: string | undefined;
    for (let tries = 1; ; tries++) {
      const outcome = await this.#offer();
      if ('region' in outcome) {
        return { askedAt, takenAt: performance.now(), tries, region: outcome.region, why };
      }
      ({ why } = outcome);
      const isOver = performance.now() - askedAt > PATIENCE || this.#ended.signal.aborted;
      if (isOver) return { askedAt, takenAt: undefined, tries, region: undefined, why };
      await delay(Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (tries - 1)));
    }
  }

  async #offer(): Promise<{ readonly region: string } | { readonly why: string }> {
    try {
      const response = await postOffer(this.#edge, OFFER, placeHeaders(this.#place));
      const text = await response.text();
      if (response.status !== 201) return { why: `${response.status} ${text}` };
      const location = new URL(response.headers.get('location')!, this.#edge);
      // Whether that can be told is no part of a setup; a session nobody comes to ends by itself.
      void fetch(location, { method: 'DELETE' }).then(
        (ended) => ended.arrayBuffer(),
        () => undefined,
      );
      return { region: readRelayPath(response.headers.get('relay-path')).cluster! };
    } catch (error) {
      return { why: String(error) };
    }
  }
}

/** The setups that nobody took. */
export function neverTaken(setups: readonly Setup[]): readonly Setup[] {
  return setups.filter(({ takenAt }) => takenAt === undefined);
}
