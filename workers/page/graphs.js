/** The last minute of a call as small graphs: round trip, jitter, loss, with what was done to it. */
import { setText } from './dom.js';
import { svg } from './svg.js';

/** Milliseconds that the graphs show. */
const SPAN = 60_000;

/** Units of a graph's drawing. */
const WIDTH = 300;
const HEIGHT = 60;

/**
 * @typedef {object} Figure
 * @property {'rtt' | 'jitter' | 'loss'} key
 * @property {string} name
 * @property {string} unit
 * @property {number} leastTop Top of the graph at least, so that what is next to nothing looks so.
 */

/** @type {readonly Figure[]} */
const FIGURES = [
  { key: 'rtt', name: 'Round trip', unit: 'ms', leastTop: 10 },
  { key: 'jitter', name: 'Jitter', unit: 'ms', leastTop: 10 },
  { key: 'loss', name: 'Loss', unit: '%', leastTop: 5 },
];

/** @typedef {{ at: number, rtt: number | undefined, jitter: number | undefined, loss: number | undefined }} Sample */

export class Graphs {
  /** @type {Sample[]} */
  #samples = [];
  /** @type {number[]} When something was done to the call. */
  #marks = [];
  /** @type {{ packetsIn: number, packetsLost: number } | undefined} */
  #before;
  #root;

  /** @param {HTMLElement} root Holds a figure for each graph, with its name as `data-figure`. */
  constructor(root) {
    this.#root = root;
    this.clear();
  }

  clear() {
    this.#samples = [];
    this.#marks = [];
    this.#before = undefined;
    this.#draw();
  }

  /** Something is done to the call now. */
  mark() {
    this.#marks.push(performance.now());
  }

  /** @param {import('./stats.js').CallStats} stats */
  add({ rtt, jitter, packetsIn, packetsLost }) {
    const at = performance.now();
    const before = this.#before ?? { packetsIn, packetsLost };
    const lost = Math.max(0, packetsLost - before.packetsLost);
    const due = lost + Math.max(0, packetsIn - before.packetsIn);
    this.#before = { packetsIn, packetsLost };
    this.#samples.push({ at, rtt, jitter, loss: due > 0 ? (100 * lost) / due : undefined });
    this.#samples = this.#samples.filter((sample) => sample.at > at - SPAN);
    this.#marks = this.#marks.filter((mark) => mark > at - SPAN);
    this.#draw();
  }

  #draw() {
    for (const figure of FIGURES) this.#drawOne(figure);
  }

  /** @param {Figure} figure */
  #drawOne({ key, name, unit, leastTop }) {
    const points = this.#samples.flatMap((it) => {
      const value = it[key];
      return value === undefined ? [] : [{ at: it.at, value }];
    });
    const most = Math.max(0, ...points.map(({ value }) => value));
    const top = Math.max(leastTop, most * 1.15);
    const now = points.at(-1)?.value;
    const text = now === undefined ? '–' : `${formatValue(now)} ${unit}`;
    setText(`${key}-now`, text);
    setText(`${key}-most`, points.length > 0 ? `at most ${formatValue(most)} ${unit}` : '');
    const graph = this.#root.querySelector(`[data-figure="${key}"]`);
    if (!graph) return;
    graph.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    graph.setAttribute('aria-label', `${name} over the last minute, now ${text}`);
    const end = performance.now();
    /** @param {number} at */
    const x = (at) => (WIDTH * (1 - (end - at) / SPAN)).toFixed(1);
    /** @param {number} value */
    const y = (value) => (HEIGHT - 2 - ((HEIGHT - 6) * value) / top).toFixed(1);
    const line = points.map(({ at, value }) => `${x(at)} ${y(value)}`).join('L');
    const first = points[0];
    const last = points.at(-1);
    graph.replaceChildren(
      svg('path', { class: 'base', d: `M0 ${HEIGHT - 1}H${WIDTH}` }),
      ...this.#marks.map((at) => svg('path', { class: 'event', d: `M${x(at)} 0V${HEIGHT}` })),
      ...(first && last
        ? [
            svg('path', {
              class: 'area',
              d: `M${x(first.at)} ${HEIGHT - 1}L${line}L${x(last.at)} ${HEIGHT - 1}z`,
            }),
            svg('path', { class: 'line', d: `M${line}` }),
          ]
        : []),
    );
  }
}

/** @param {number} value */
function formatValue(value) {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}
