/** The page: a button that starts and ends a call, and what there is to see of it. */
import { Call } from './call.js';
import { byId, setHidden, setText } from './dom.js';
import { showKeyNumber } from './key-number.js';
import { drawHops, mediaHops, signalingHops } from './path.js';
import { PLACES } from './places.js';
import { drawWaterfall, formatMs } from './waterfall.js';
import { askWhere } from './where.js';

/** Milliseconds between two readings of the live numbers. */
const LIVE_INTERVAL = 500;

/** Hosts of a local run, where the place to call from can be chosen. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** @typedef {Partial<import('./stats.js').CallStats>} LiveNumbers */

/** @type {LiveNumbers} Of a call that has only begun. */
const NO_NUMBERS = {};

/** @type {Readonly<Record<import('./call.js').CallState, string>>} */
const STATUS = {
  asking: 'Allow the microphone…',
  starting: 'Asking the edge…',
  connecting: 'Connecting…',
  unanswered: 'No relay has answered yet; still trying…',
  live: 'You are live. Say something and pause: it comes back.',
  interrupted: 'The path broke off; it comes back by itself if it can.',
  ended: 'The call has ended. Press Talk to call again.',
  failed: 'The call failed.',
};

const app = byId('app', HTMLElement);
const signalingList = byId('path-signaling', HTMLElement);
const mediaList = byId('path-media', HTMLElement);
const stageList = byId('stages', HTMLElement);
const talk = byId('talk', HTMLButtonElement);
const checkData = byId('check-data', HTMLButtonElement);
const placeSelect = byId('place', HTMLSelectElement);
const audio = byId('audio', HTMLAudioElement);
const isLocal = LOCAL_HOSTS.includes(location.hostname);

/** @type {Call | undefined} */
let call;

/** @type {readonly string[]} Relays that take in the media of a call from the chosen place. */
let nearRelays = [];

/** The last call made on this page, whatever became of it. */
export function currentCall() {
  return call;
}

if (isLocal) {
  placeSelect.append(...PLACES.map(({ name }) => new Option(name)));
  placeSelect.addEventListener('change', changePlace);
  setHidden('from', false);
}
talk.addEventListener('click', () => (isOngoing(call) ? call?.hangUp() : startCall()));
checkData.addEventListener('click', () => void call?.checkData());
addEventListener('pagehide', () => call?.hangUp());
setInterval(() => void readLive(), LIVE_INTERVAL);
void showWhere();

function startCall() {
  const started = new Call(chosenPlace());
  call = started;
  showLive(NO_NUMBERS);
  started.addEventListener('change', () => {
    if (call === started) show(started);
  });
  started.addEventListener('audio', () => {
    audio.srcObject = started.remoteStream ?? null;
  });
  show(started);
  void started.start();
}

function chosenPlace() {
  return isLocal ? PLACES[placeSelect.selectedIndex] : undefined;
}

/** @param {Call | undefined} candidate */
function isOngoing(candidate) {
  return candidate !== undefined && candidate.state !== 'ended' && candidate.state !== 'failed';
}

/** @param {Call} shown */
function show(shown) {
  const ongoing = isOngoing(shown);
  app.dataset.state = shown.state;
  talk.textContent = ongoing ? 'Hang up' : 'Talk';
  placeSelect.disabled = ongoing;
  setText('status', STATUS[shown.state]);
  showError(shown.error);
  setText('call-title', titleOf(shown));
  showKeyNumber(shown.stages);
  showPath(shown);
  setHidden('stages-empty', shown.stages.length > 0);
  drawWaterfall(stageList, shown.stages, shown.edgeTimings);
  showData(shown);
  if (!ongoing) {
    showLevels(0, 0);
    audio.srcObject = null;
  }
}

/** @param {Call} shown */
function titleOf(shown) {
  const which = isOngoing(shown) ? 'This call' : 'Last call';
  return shown.place ? `${which}, from ${shown.place.name}` : which;
}

/** @param {import('./call-error.js').CallError | undefined} error */
function showError(error) {
  setText('error-title', error?.message ?? '');
  setText('error-detail', error?.detail ?? '');
  setHidden('error', !error);
}

/** @param {Call} shown */
function showPath(shown) {
  const known = shown.path.cluster !== undefined;
  setHidden('path', !known);
  setHidden('path-empty', known);
  drawHops(signalingList, known ? signalingHops(shown) : []);
  drawHops(mediaList, known ? mediaHops(shown, nearRelays) : []);
}

/** @param {Call} shown */
function showData({ state, stages, dataCheck }) {
  checkData.disabled = state !== 'live' || !dataCheck;
  const open = stages.some(({ name }) => name === 'data');
  if (!dataCheck) return setText('data', `Data channel: ${open ? 'checking…' : 'not open'}`);
  const { same, ms, bytes } = dataCheck;
  const large = bytes > 0 ? `, ${bytes / 1000} kB` : '';
  const good = `Data channel: text in ${formatMs(ms)}${large} came back the same`;
  setText('data', same ? good : 'Data channel: what came back is not what went out');
}

async function readLive() {
  const shown = call;
  if (!shown || !isOngoing(shown)) return;
  const stats = await shown.stats();
  if (shown === call && isOngoing(shown)) showLive(stats);
}

/** @param {LiveNumbers} numbers */
function showLive({ packetsOut, packetsIn, packetsLost, rtt, levelOut = 0, levelIn = 0 }) {
  setText('packets-out', String(packetsOut ?? '–'));
  setText('packets-in', String(packetsIn ?? '–'));
  setText('packets-lost', String(packetsLost ?? '–'));
  setText('rtt', rtt === undefined ? '–' : formatMs(rtt));
  showLevels(levelOut, levelIn);
}

/** What the last call left stays, under a title that says whose it is. */
function changePlace() {
  showError(undefined);
  if (call) setText('status', 'Press Talk to call from here.');
  void showWhere();
}

async function showWhere() {
  const place = chosenPlace();
  const { sentence, relays } = await askWhere(place);
  if (chosenPlace() !== place) return;
  setText('where', sentence);
  nearRelays = relays;
}

/**
 * @param {number} out 0 to 1.
 * @param {number} back 0 to 1.
 */
function showLevels(out, back) {
  byId('level-out', HTMLMeterElement).value = out;
  byId('level-in', HTMLMeterElement).value = back;
}
