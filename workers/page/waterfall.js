/** Draws the stages of a call's setup as bars on one time axis, the edge's own split below its stage. */

/** @typedef {import('./call.js').Stage & { part?: boolean }} Row */

/** @type {Readonly<Record<string, string>>} */
const LABELS = {
  microphone: 'Microphone',
  offer: 'Offer',
  edge: 'Edge',
  ice: 'ICE',
  dtls: 'DTLS',
  data: 'Data channel',
  audio: 'First audio',
};

/** Parts of the edge's time that run inside another part instead of after it. */
const NESTED = new Set(['answer']);

/**
 * @param {HTMLElement} list
 * @param {readonly import('./call.js').Stage[]} stages
 * @param {readonly import('./answer.js').ServerTiming[]} edgeTimings
 */
export function drawWaterfall(list, stages, edgeTimings) {
  const end = Math.max(1, ...stages.map((stage) => stage.end));
  const rows = stages.flatMap((stage) =>
    stage.name === 'edge' ? [stage, ...edgeParts(stage, edgeTimings)] : [stage],
  );
  list.replaceChildren(...rows.map((row) => drawRow(row, end)));
}

/**
 * The edge gives durations only; they are laid end to end and set back by half of what the network took.
 *
 * @param {import('./call.js').Stage} edge
 * @param {readonly import('./answer.js').ServerTiming[]} timings
 * @returns {Row[]}
 */
function edgeParts(edge, timings) {
  const serial = timings.filter((timing) => !NESTED.has(timing.name));
  const spent = serial.reduce((sum, timing) => sum + timing.duration, 0);
  let at = edge.start + Math.max(0, (edge.end - edge.start - spent) / 2);
  let before = at;
  return timings.map(({ name, duration }) => {
    const start = NESTED.has(name) ? before : at;
    before = start;
    if (!NESTED.has(name)) at += duration;
    return { name, start, end: start + duration, part: true };
  });
}

/**
 * @param {Row} row
 * @param {number} end
 */
function drawRow({ name, start, end: stop, part }, end) {
  const item = document.createElement('li');
  item.dataset.stage = name;
  item.classList.toggle('part', part === true);
  const bar = element('span', 'bar', '');
  bar.style.setProperty('--start', `${(start / end) * 100}%`);
  bar.style.setProperty('--width', `${(Math.min(stop, end) - start) * (100 / end)}%`);
  const track = element('span', 'track', '');
  track.append(bar);
  item.append(
    element('span', 'name', LABELS[name] ?? name),
    track,
    element('span', 'ms', formatMs(stop - start)),
  );
  return item;
}

/** @param {number} ms */
export function formatMs(ms) {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
