/** The figures of a simulation as JSON, as exact as the cities are. */
import type { Outcome } from './simulation.ts';

/** Digits after the point of kilometers and milliseconds, and of shares, whose sum stays 1 to within as little. */
const FIGURE_DIGITS = 1;
const SHARE_DIGITS = 4;

export function jsonOf(outcomes: readonly Outcome[]): string {
  const told = outcomes.map(({ name, km, rtt, load }) => ({
    name,
    km: rounded(km, FIGURE_DIGITS),
    rtt: rounded(rtt, FIGURE_DIGITS),
    load: rounded(load, SHARE_DIGITS),
  }));
  return `${JSON.stringify(told, null, 2)}\n`;
}

function rounded(figures: Readonly<Record<string, number>>, digits: number) {
  const entries = Object.entries(figures);
  return Object.fromEntries(entries.map(([name, value]) => [name, Number(value.toFixed(digits))]));
}
