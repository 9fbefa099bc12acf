/** A value held in the isolate and renewed behind the requests that use it. */

/** Milliseconds before the next refresh after one that failed, or never ended for its request was cancelled. */
export const REFRESH_LOST = 5_000;

export interface CacheLimits<T> {
  /** Milliseconds for which a value is used as it is. */
  readonly fresh: number;
  /** Milliseconds for which it is still used while a new one is fetched. */
  readonly stale: number;
  /** Whether a value is worth using while stale; one that would fail a call is not. */
  readonly keep?: (value: T) => boolean;
}

/**
 * Requests share the value and a mark that somebody renews it, never a promise: workerd ties a promise
 * to its request, and a cancelled request would take all who wait for it down.
 */
export class RefreshingCache<T> {
  readonly #limits: CacheLimits<T>;
  #held: { readonly value: T; readonly readAt: number } | undefined;
  #refreshingSince = -Infinity;

  constructor(limits: CacheLimits<T>) {
    this.#limits = limits;
  }

  /**
   * @param load Rejects when there is no new value; a stale one goes on then.
   * @param background Keeps work alive past the response: `waitUntil`.
   */
  async get(
    load: () => Promise<T>,
    background: (work: Promise<unknown>) => void,
    onError: (error: unknown) => void,
  ): Promise<T> {
    const now = Date.now();
    const held = this.#held;
    const age = held ? now - held.readAt : Infinity;
    if (held && age <= this.#limits.fresh) return held.value;
    if (held && age <= this.#limits.stale && (this.#limits.keep?.(held.value) ?? true)) {
      if (now - this.#refreshingSince > REFRESH_LOST) {
        this.#refreshingSince = now;
        background(this.renew(load).catch(onError));
      }
      return held.value;
    }
    return this.renew(load);
  }

  /** Loads whatever is held, for whoever knows that it has changed. */
  async renew(load: () => Promise<T>): Promise<T> {
    const value = await load();
    this.#held = { value, readAt: Date.now() };
    this.#refreshingSince = -Infinity;
    return value;
  }
}
