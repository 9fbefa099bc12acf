/** Counts how values are spread, in memory that threads may share; nothing is built to observe one. */

/** Plain JSON. All counts only ever grow. */
export interface HistogramCounts {
  /** Upper bounds, ascending and inclusive. */
  readonly bounds: readonly number[];
  /** Values up to each bound and above the one before; one count more than bounds, for all above. */
  readonly counts: readonly number[];
  /** Of all values. */
  readonly sum: number;
}

export class Histogram {
  readonly bounds: Float64Array;
  readonly #slots: Float64Array;

  /** @param slots As many as {@link histogramSlots} says; they hold the counts, and the sum behind. */
  constructor(
    bounds: readonly number[],
    slots: Float64Array = new Float64Array(histogramSlots(bounds)),
  ) {
    this.bounds = Float64Array.from(bounds);
    this.#slots = slots;
  }

  /** @param times How often the value occurred. */
  observe(value: number, times: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.#slots[bucket]! += times;
    this.#slots[bounds.length + 1]! += value * times;
  }

  get counts(): HistogramCounts {
    return sumHistograms([this]);
  }

  slot(i: number): number {
    return this.#slots[i]!;
  }
}

export function histogramSlots(bounds: readonly number[]): number {
  return bounds.length + 2;
}

/** The sum of histograms with the same bounds; there must be one. */
export function sumHistograms(histograms: readonly Histogram[]): HistogramCounts {
  const bounds = [...histograms[0]!.bounds];
  const sum = (slot: number): number =>
    histograms.reduce((total, histogram) => total + histogram.slot(slot), 0);
  const counts = Array.from({ length: bounds.length + 1 }, (_, bucket) => sum(bucket));
  return { bounds, counts, sum: sum(bounds.length + 1) };
}
