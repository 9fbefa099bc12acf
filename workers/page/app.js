/** The page: a button that starts and ends a call, and what there is to see of it. */
import { Call } from './call.js';
import { byId, setHidden, setText } from './dom.js';
import { Faults } from './faults.js';
import { Graphs } from './graphs.js';
import { showKeyNumbers } from './key-number.js';
import { LocalControl } from './local-control.js';
import { describeMap, drawMap } from './map.js';
import { RelayRegions, drawHops, mediaHops, signalingHops } from './path.js';
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

const TONE_STATUS = {
  asking: 'Starting the tone…',
  live: 'You are live: the tone that you hear went there and back.',
};

const app = byId('app', HTMLElement);
const signalingList = byId('path-signaling', HTMLElement);
const mediaList = byId('path-media', HTMLElement);
const stageList = byId('stages', HTMLElement);
const talk = byId('talk', HTMLButtonElement);
const checkData = byId('check-data', HTMLButtonElement);
const placeSelect = byId('place', HTMLSelectElement);
const sourceSelect = byId('source', HTMLSelectElement);
const audio = byId('audio', HTMLAudioElement);
const map = document.querySelector('#map');
const isLocal = LOCAL_HOSTS.includes(location.hostname);
const graphs = new Graphs(byId('graphs', HTMLElement));
const faults = new Faults(LocalControl.find());
const relays = new RelayRegions();

/** @type {Call | undefined} */
let call;

/** @type {import('./where.js').Where | undefined} What the edge said last of the chosen place. */
let where;

/** Whether media came since the last look. */
let isFlowing = false;

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
faults.addEventListener('act', () => graphs.mark());
faults.addEventListener('down', showMap);
faults.addEventListener('steering', () => void showWhere());
addEventListener('pagehide', () => call?.hangUp());
setInterval(() => void readLive(), LIVE_INTERVAL);
void showWhere();

function startCall() {
  const started = new Call(chosenPlace(), sourceSelect.value === 'tone' ? 'tone' : 'microphone');
  call = started;
  isFlowing = false;
  graphs.clear();
  faults.watch(started);
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
  sourceSelect.disabled = ongoing;
  setText('status', { ...STATUS, ...(shown.source === 'tone' && TONE_STATUS) }[shown.state]);
  showError(shown.error);
  setText('call-title', titleOf(shown));
  showKeyNumbers(shown);
  if (!ongoing) isFlowing = false;
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
  drawHops(mediaList, known ? mediaHops(shown, relays) : []);
  showMap();
  showFaults();
}

function showMap() {
  if (!map) return;
  const ongoing = isOngoing(call) ? call : undefined;
  const { cluster, transceiver } = ongoing?.path ?? {};
  const entry = ongoing && cluster ? relays.entryOf(ongoing) : undefined;
  const state = {
    regions: where?.regions ?? [],
    down: faults.down,
    client: where?.client,
    clientName: chosenPlace()?.name ?? 'You',
    call:
      entry && cluster
        ? {
            entry,
            cluster,
            transceiver: transceiver ?? '',
            lit: isFlowing && faults.down !== entry,
            transport: ongoing?.relay?.endsWith('/tcp') ? 'tcp' : 'udp',
          }
        : undefined,
  };
  drawMap(map, state);
  setText('map-words', describeMap(state));
}

function showFaults() {
  const ongoing = isOngoing(call) ? call : undefined;
  const known = ongoing?.path.cluster !== undefined;
  faults.show({
    call: ongoing,
    entry: ongoing && known ? relays.entryOf(ongoing) : undefined,
    cluster: (known ? ongoing?.path.cluster : undefined) ?? where?.region,
    regions: where?.regions ?? [],
    place: chosenPlace(),
  });
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

let packetsBefore = 0;

async function readLive() {
  const shown = call;
  if (!shown || !isOngoing(shown)) return;
  const stats = await shown.stats();
  if (shown !== call || !isOngoing(shown)) return;
  const packets = stats.packetsIn + stats.packetsOut;
  const flows = packets > packetsBefore && shown.state === 'live';
  packetsBefore = packets;
  if (flows !== isFlowing) {
    isFlowing = flows;
    showMap();
  }
  if (shown.state === 'live' || shown.state === 'interrupted') graphs.add(stats);
  faults.showGap(shown);
  showLive({ ...stats });
  showLevels(shown.level, stats.levelIn);
}

/** @param {LiveNumbers} numbers */
function showLive({ packetsOut, packetsIn, packetsLost }) {
  setText('packets-out', String(packetsOut ?? '–'));
  setText('packets-in', String(packetsIn ?? '–'));
  setText('packets-lost', String(packetsLost ?? '–'));
}

/** What the last call left stays, under a title that says whose it is. */
function changePlace() {
  showError(undefined);
  if (call) setText('status', 'Press Talk to call from here.');
  void showWhere();
}

async function showWhere() {
  const place = chosenPlace();
  const answer = await askWhere(place);
  if (chosenPlace() !== place) return;
  where = answer;
  relays.learn(answer.ingress);
  setText('where', answer.sentence);
  if (call && isOngoing(call)) showPath(call);
  else {
    showMap();
    showFaults();
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
