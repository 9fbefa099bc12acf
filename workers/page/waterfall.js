/**
 * Draws the stages of a call's setup as bars on one time axis, the edge's own split below its stage.
 * The axis begins once what is said is there: a person's time to answer a prompt would dwarf the rest.
 */

/** @typedef {import('./call-stages.js').Stage & { part?: boolean }} Row */

/** @type {Readonly<Record<string, string>>} */
const LABELS = {
  microphone: 'Microphone',
  tone: 'Tone',
  offer: 'Offer',
  edge: 'Edge',
  ice: 'ICE',
  dtls: 'DTLS',
  data: 'Data channel',
  audio: 'First sound',
};

/** @type {Readonly<Record<string, string>>} */
const MEANINGS = {
  microphone: 'you allow it and it opens; before the bars begin',
  tone: 'the browser starts to make it; before the bars begin',
  offer: 'the browser describes what it can',
  edge: 'one request, there and back',
  steer: 'finds the nearest cluster',
  roster: 'finds a transceiver with room',
  mint: 'seals the way there into the ufrag',
  forward: 'hands the offer to the transceiver',
  answer: 'of that, the transceiver writing its answer',
  ice: 'relay opens the ufrag, transceiver answers',
  dtls: 'both ends agree on keys',
  data: 'opens after DTLS',
  audio: 'the first packet of sound comes, after DTLS',
};

/** Parts of the edge's time that run inside another part instead of after it. */
const NESTED = new Set(['answer']);

/**
 * @param {HTMLElement} list
 * @param {readonly import('./call-stages.js').Stage[]} stages
 * @param {readonly import('./answer.js').ServerTiming[]} edgeTimings
 */
export function drawWaterfall(list, stages, edgeTimings) {
  const origin = stages.find(({ name }) => name === 'microphone' || name === 'tone')?.end ?? 0;
  const length = Math.max(1, ...stages.map((stage) => stage.end - origin));
  const rows = stages.flatMap((stage) =>
    stage.name === 'edge' ? [stage, ...edgeParts(stage, edgeTimings)] : [stage],
  );
  list.replaceChildren(...rows.map((row) => drawRow(row, origin, length)));
}

/**
 * The edge gives durations only; they are laid end to end and set back by half of what the network took.
 *
 * @param {import('./call-stages.js').Stage} edge
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
 * @param {number} origin Milliseconds at which the axis begins.
 * @param {number} length Milliseconds of the axis.
 */
function drawRow({ name, start, end, part }, origin, length) {
  const item = document.createElement('li');
  item.dataset.stage = name;
  item.classList.toggle('part', part === true);
  const track = element('span', 'track', '');
  if (start >= origin) {
    const bar = element('span', 'bar', '');
    bar.style.setProperty('--start', `${((start - origin) / length) * 100}%`);
    bar.style.setProperty('--width', `${((end - start) / length) * 100}%`);
    track.append(bar);
  }
  item.append(
    element('span', 'name', LABELS[name] ?? name),
    element('span', 'meaning', MEANINGS[name] ?? ''),
    track,
    element('span', 'ms', formatMs(end - start)),
  );
  return item;
}

/** @param {number} ms */
export function formatMs(ms) {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
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
