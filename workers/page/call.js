/** One call: microphone in, an offer to the edge, its answer, audio out. Knows nothing of the page. */
import { readCandidates, readRelayPath, readServerTiming } from './answer.js';
import { CallError, asCallError, noAnswer, readProblem } from './call-error.js';
import { Echo } from './echo.js';
import { placeHeaders } from './places.js';
import { summarize } from './stats.js';

/**
 * `asking` for the microphone, `starting` at the edge, `connecting` to a relay, `unanswered` as yet by
 * any; `interrupted` may become `live` again.
 *
 * @typedef {'asking' | 'starting' | 'connecting' | 'unanswered' | 'live' | 'interrupted' | 'ended' | 'failed'} CallState
 */

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {number} start Milliseconds since the call was asked for.
 * @property {number} end
 */

const CALLS_URL = '/v1/calls';

/** The label that clients of the Realtime API open. */
const CHANNEL_LABEL = 'oai-events';

/** Milliseconds between two looks for the first audio. */
const FIRST_AUDIO_POLL = 20;

/** Milliseconds without an answer of any relay that a person should be told of. */
const UNANSWERED_AFTER = 4_000;

/** Milliseconds a dead path has to come back; libwebrtc gives a pair up after 15 s to 30 s. */
const CONNECT_TIMEOUT = 30_000;

/** Fires `change` whenever any of its properties changed, and `audio` once remote audio can play. */
export class Call extends EventTarget {
  /** @type {CallState} */
  state = 'asking';
  /** @type {Stage[]} In the order they ended. */
  stages = [];
  /** @type {import('./answer.js').ServerTiming[]} How the edge spent its time. */
  edgeTimings = [];
  /** @type {import('./answer.js').RelayPath} */
  path = {};
  /** @type {string[]} Where the answer lets media go. */
  candidates = [];
  /** @type {string | undefined} The one of them that media goes to. */
  relay;
  /** @type {{ same: boolean, bytes: number, ms: number } | undefined} The last data check. */
  dataCheck;
  /** @type {CallError | undefined} */
  error;
  /** @type {MediaStream | undefined} */
  remoteStream;

  #start = performance.now();
  #peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  #channel = this.#peer.createDataChannel(CHANNEL_LABEL);
  #echo = new Echo(this.#channel);
  /** @type {MediaStream | undefined} */
  #microphone;
  /** @type {string | undefined} */
  #location;
  #mark = 0;

  /** @param {import('./places.js').Place | undefined} place Where to call from, in a local run. */
  constructor(place) {
    super();
    this.place = place;
    this.#peer.addEventListener('connectionstatechange', () => this.#onConnectionState());
    this.#peer.addEventListener('iceconnectionstatechange', () => this.#onIceState());
    this.#peer.addEventListener('track', (event) => this.#onTrack(event));
    this.#channel.addEventListener('open', () => void this.#onChannelOpen());
  }

  /** Never rejects: what goes wrong is in `error`. */
  async start() {
    try {
      await this.#openMicrophone();
      if (this.#isOver()) return;
      this.#set('starting');
      const answer = await this.#exchange(await this.#offer());
      // Hanging up while the request was under way: the session it made must not stay.
      if (this.state !== 'starting') return await this.#deleteSession();
      this.#set('connecting');
      this.#mark = this.#now();
      await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer });
      setTimeout(() => this.#tellUnlessAnswered(), UNANSWERED_AFTER);
      setTimeout(() => this.#failUnlessConnected(), CONNECT_TIMEOUT);
      void this.#awaitFirstAudio();
    } catch (error) {
      this.#fail(asCallError(error));
    }
  }

  /** Ends the call here and at the edge. It may be called at any time, and again. */
  hangUp() {
    if (!this.#isOver()) this.#close('ended');
  }

  /** @returns {Promise<import('./stats.js').CallStats>} */
  async stats() {
    const stats = summarize(await this.#peer.getStats());
    if (stats.relay && stats.relay !== this.relay) {
      this.relay = stats.relay;
      this.#changed();
    }
    return stats;
  }

  /**
   * @param {string | Uint8Array<ArrayBuffer>} data
   * @returns {Promise<boolean>} Whether it came back as it went.
   */
  echo(data) {
    return this.#echo.send(data);
  }

  /** Sends text and 100 kB of bytes and compares what comes back; the result is in `dataCheck`. */
  async checkData() {
    try {
      this.dataCheck = await this.#echo.check();
    } catch {
      this.dataCheck = { same: false, bytes: 0, ms: 0 };
    }
    this.#changed();
  }

  async #openMicrophone() {
    const mark = this.#now();
    this.#microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
    this.#stage('microphone', mark);
    if (this.#isOver()) return this.#stopMicrophone();
    for (const track of this.#microphone.getTracks()) {
      this.#peer.addTrack(track, this.#microphone);
    }
  }

  async #offer() {
    const mark = this.#now();
    await this.#peer.setLocalDescription();
    this.#stage('offer', mark);
    return this.#peer.localDescription?.sdp ?? '';
  }

  /**
   * @param {string} offer
   * @returns {Promise<string>} The answer.
   */
  async #exchange(offer) {
    const mark = this.#now();
    const response = await fetch(CALLS_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', ...placeHeaders(this.place) },
      body: offer,
    });
    if (response.status !== 201) throw await readProblem(response);
    const answer = await response.text();
    this.#location = response.headers.get('location') ?? undefined;
    this.path = readRelayPath(response.headers.get('relay-path'));
    this.edgeTimings = readServerTiming(response.headers.get('server-timing'));
    this.candidates = readCandidates(answer);
    this.#stage('edge', mark);
    return answer;
  }

  #onIceState() {
    const { iceConnectionState } = this.#peer;
    if (iceConnectionState === 'connected' && !this.#has('ice')) {
      this.#stage('ice', this.#mark);
      this.#mark = this.#now();
      if (this.state === 'unanswered') this.#set('connecting');
    }
  }

  #onConnectionState() {
    const { connectionState } = this.#peer;
    if (this.#isOver()) return;
    if (connectionState === 'connected') {
      this.#reachDtls();
      this.#set('live');
    } else if (connectionState === 'disconnected') {
      this.#set('interrupted');
    } else if (connectionState === 'failed') {
      this.#fail(this.#noMedia());
    }
  }

  /** Events of one moment come in any order: a channel that is open says as much as the connection. */
  #reachDtls() {
    if (this.#has('dtls')) return;
    this.#stage('dtls', this.#mark);
    this.#mark = this.#now();
  }

  async #onChannelOpen() {
    this.#reachDtls();
    this.#stage('data', this.#mark);
    await this.checkData();
  }

  /** @param {RTCTrackEvent} event */
  #onTrack(event) {
    this.remoteStream = new MediaStream([event.track]);
    this.dispatchEvent(new Event('audio'));
  }

  async #awaitFirstAudio() {
    while (!this.#isOver()) {
      const { packetsIn } = await this.stats();
      if (packetsIn > 0) {
        this.#reachDtls();
        return this.#stage('audio', this.#mark);
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_AUDIO_POLL));
    }
  }

  #tellUnlessAnswered() {
    if (this.state === 'connecting' && !this.#has('ice')) this.#set('unanswered');
  }

  #failUnlessConnected() {
    if (this.state === 'connecting' || this.state === 'unanswered') this.#fail(this.#noMedia());
  }

  #noMedia() {
    if (!this.#has('ice')) return noAnswer('No media path came up', this.candidates);
    if (this.#has('dtls')) return noAnswer('The media path is gone', this.candidates);
    return new CallError('DTLS did not succeed', 'A relay answers; press Talk to try again.');
  }

  /** @param {CallError} error */
  #fail(error) {
    if (this.#isOver()) return;
    this.error = error;
    this.#close('failed');
  }

  /** @param {CallState} state */
  #close(state) {
    this.#stopMicrophone();
    this.#set(state);
    // The edge first: a peer that says goodbye before it ends the session itself, and DELETE finds none.
    void this.#deleteSession().finally(() => this.#peer.close());
  }

  #stopMicrophone() {
    for (const track of this.#microphone?.getTracks() ?? []) track.stop();
  }

  async #deleteSession() {
    const location = this.#location;
    if (!location) return;
    this.#location = undefined;
    try {
      // keepalive lets the request outlive the page.
      await fetch(location, { method: 'DELETE', keepalive: true });
    } catch {
      // The session ends by itself when its client is gone.
    }
  }

  #isOver() {
    return this.state === 'ended' || this.state === 'failed';
  }

  #now() {
    return performance.now() - this.#start;
  }

  /** @param {string} name */
  #has(name) {
    return this.stages.some((stage) => stage.name === name);
  }

  /**
   * @param {string} name
   * @param {number} start
   */
  #stage(name, start) {
    this.stages = [...this.stages, { name, start, end: this.#now() }];
    this.#changed();
  }

  /** @param {CallState} state */
  #set(state) {
    this.state = state;
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }
}
