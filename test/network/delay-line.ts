/** Does things at their times, in the order of those, and at equal times in the order they were given. */
interface Due {
  readonly at: number;
  readonly act: () => void;
}

export class DelayLine implements Disposable {
  /** The earliest first. */
  readonly #dues: Due[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param at Milliseconds of `performance.now`; what is due already is done at once. */
  add(at: number, act: () => void): void {
    let place = this.#dues.length;
    while (place > 0 && this.#dues[place - 1]!.at > at) place--;
    this.#dues.splice(place, 0, { at, act });
    this.#run();
  }

  /** What has not been done never will be. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#dues.length = 0;
  }

  #run(): void {
    clearTimeout(this.#timer);
    while (this.#dues.length > 0 && this.#dues[0]!.at <= performance.now()) {
      this.#dues.shift()!.act();
    }
    const next = this.#dues[0];
    if (!next) return;
    const wait = Math.max(0, next.at - performance.now());
    this.#timer = setTimeout(() => this.#run(), wait);
  }
}
