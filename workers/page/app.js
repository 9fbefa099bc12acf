/** The page: a button that starts and ends a call, and what there is to see of it. */
import { Call } from './call.js';
import { byId, setHidden, setText } from './dom.js';
import { PLACES, placeHeaders } from './places.js';
import { drawWaterfall, formatMs } from './waterfall.js';

/** Milliseconds between two readings of the live numbers. */
const LIVE_INTERVAL = 500;

/** Hosts of a local run, where the place to call from can be chosen. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** @type {Readonly<Record<import('./call.js').CallState, string>>} */
const STATUS = {
  starting: 'Asking the edge…',
  connecting: 'Connecting…',
  live: 'You are live. What you say comes back.',
  interrupted: 'The path broke off; it comes back by itself if it can.',
  ended: 'The call has ended.',
  failed: 'The call failed.',
};

const app = byId('app', HTMLElement);
const stageList = byId('stages', HTMLElement);
const talk = byId('talk', HTMLButtonElement);
const checkData = byId('check-data', HTMLButtonElement);
const placeSelect = byId('place', HTMLSelectElement);
const audio = byId('audio', HTMLAudioElement);
const isLocal = LOCAL_HOSTS.includes(location.hostname);

/** @type {Call | undefined} */
let call;

/** The last call made on this page, whatever became of it. */
export function currentCall() {
  return call;
}

if (isLocal) {
  placeSelect.append(...PLACES.map(({ name }) => new Option(name)));
  placeSelect.addEventListener('change', () => void showWhere());
  setHidden('from', false);
}
talk.addEventListener('click', () => (isOngoing(call) ? call?.hangUp() : startCall()));
checkData.addEventListener('click', () => void call?.checkData());
addEventListener('pagehide', () => call?.hangUp());
setInterval(() => void showLive(), LIVE_INTERVAL);
void showWhere();

function startCall() {
  const started = new Call(chosenPlace());
  call = started;
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
  showPath(shown);
  setHidden('stages-empty', shown.stages.length > 0);
  drawWaterfall(stageList, shown.stages, shown.edgeTimings);
  showData(shown);
  if (!ongoing) {
    showLevels(0, 0);
    audio.srcObject = null;
  }
}

/** @param {import('./call-error.js').CallError | undefined} error */
function showError(error) {
  setText('error-title', error?.message ?? '');
  setText('error-detail', error?.detail ?? '');
  setHidden('error', !error);
}

/** @param {Call} shown */
function showPath({ path, candidates }) {
  const { colo, ingress, cluster, transceiver } = path;
  setText('path-colo', colo ?? '–');
  setText('path-ingress', ingress ?? '–');
  setText('path-address', candidates.join(', ') || 'takes the media in');
  setText('path-cluster', cluster ?? '–');
  setText('path-transceiver', transceiver ?? '–');
  const crosses = ingress !== undefined && ingress !== cluster;
  setText('path-hop', crosses ? 'reached over the trunk' : 'ends ICE and DTLS');
}

/** @param {Call} shown */
function showData({ state, stages, dataCheck }) {
  checkData.disabled = state !== 'live' || !dataCheck;
  const open = stages.some(({ name }) => name === 'data');
  if (!dataCheck) return setText('data', `Data channel: ${open ? 'checking…' : 'not open'}`);
  const { same, ms, bytes } = dataCheck;
  const good = `Data channel: text in ${formatMs(ms)}, ${bytes / 1000} kB of bytes came back the same`;
  setText('data', same ? good : 'Data channel: what came back is not what went out');
}

async function showLive() {
  const shown = call;
  if (!shown || !isOngoing(shown)) return;
  const stats = await shown.stats();
  if (!isOngoing(shown)) return;
  setText('packets-out', String(stats.packetsOut));
  setText('packets-in', String(stats.packetsIn));
  setText('packets-lost', String(stats.packetsLost));
  setText('rtt', stats.rtt === undefined ? '–' : formatMs(stats.rtt));
  showLevels(stats.levelOut, stats.levelIn);
}

async function showWhere() {
  const place = chosenPlace();
  try {
    const response = await fetch('/v1/where', { headers: placeHeaders(place) });
    const { region, reason } = await response.json();
    if (chosenPlace() !== place || !response.ok) return;
    const to = region ? `A call from here goes to ${region}` : 'No cluster takes a call from here';
    setText('where', `${to}: ${reason}.`);
  } catch {
    setText('where', 'The edge cannot be reached; is it running?');
  }
}

/**
 * @param {number} out 0 to 1.
 * @param {number} back 0 to 1.
 */
function showLevels(out, back) {
  byId('level-out', HTMLMeterElement).value = out;
  byId('level-in', HTMLMeterElement).value = back;
}
