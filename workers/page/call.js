/** One call: sound in, an offer to the edge, its answer, sound out. Knows nothing of the page. */
import { AnswerTime } from './answer-time.js';
import { CallError, asCallError, noAnswer } from './call-error.js';
import { CallStages } from './call-stages.js';
import { Echo } from './echo.js';
import { Signaling } from './signaling.js';
import { openSource } from './sound-source.js';
import { SoundWatch } from './sound-watch.js';
import { summarize } from './stats.js';

/**
 * `asking` for the microphone, `starting` at the edge, `connecting` to a relay, `unanswered` as yet by
 * any; `interrupted` may become `live` again.
 *
 * @typedef {'asking' | 'starting' | 'connecting' | 'unanswered' | 'live' | 'interrupted' | 'ended' | 'failed'} CallState
 */

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
  /** What is heard. */
  sound = new SoundWatch();
  /** @type {AnswerTime | undefined} Of a call that says what a microphone hears. */
  answerTime;

  #stages = new CallStages();
  #peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  #channel = this.#peer.createDataChannel(CHANNEL_LABEL);
  #echo = new Echo(this.#channel, () => this.source === 'tone');
  #signaling;
  /** @type {import('./sound-source.js').SoundSource | undefined} */
  #source;

  /**
   * @param {import('./places.js').Place | undefined} place Where to call from, in a local run.
   * @param {import('./sound-source.js').SourceKind} source What to say.
   */
  constructor(place, source) {
    super();
    this.place = place;
    this.source = source;
    this.#signaling = new Signaling(place);
    this.#peer.addEventListener('connectionstatechange', () => this.#onConnectionState());
    this.#peer.addEventListener('iceconnectionstatechange', () => this.#onIceState());
    this.#peer.addEventListener('track', (event) => this.#onTrack(event));
    this.#channel.addEventListener('open', () => void this.#onChannelOpen());
    this.sound.addEventListener('start', (event) => this.#onSound(event));
  }

  /** Never rejects: what goes wrong is in `error`. */
  async start() {
    try {
      await this.#openSource();
      if (this.#isOver()) return;
      this.#set('starting');
      const answer = await this.#exchange(await this.#offer());
      // Hanging up while the request was under way: the session it made must not stay.
      if (this.state !== 'starting') return await this.#signaling.end();
      this.#set('connecting');
      this.#stages.begin();
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

  /**
   * Finds a path anew, by the relays that are the nearest now; the call goes on by the one it has meanwhile.
   * @param {'udp' | 'tcp'} [transport] The only one to go by; any without it.
   * @returns {Promise<void>} Once the edge has answered; rejects with a CallError when it refuses.
   */
  async restartIce(transport) {
    try {
      await this.#restartOnce(transport);
      // A pair of before is kept while it answers, if it is the better one, and it answers until the next restart.
      if (transport) await this.#restartOnce(transport);
    } catch (error) {
      const isOffered = this.#peer.signalingState === 'have-local-offer';
      if (isOffered) await this.#peer.setLocalDescription({ type: 'rollback' });
      throw asCallError(error);
    }
  }

  /** @param {'udp' | 'tcp' | undefined} transport */
  async #restartOnce(transport) {
    await this.#peer.setLocalDescription(await this.#peer.createOffer({ iceRestart: true }));
    const offer = this.#peer.localDescription?.sdp ?? '';
    const { answer, candidates } = await this.#signaling.restart(offer, transport);
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer });
    this.candidates = candidates;
    this.#changed();
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

  get stages() {
    return this.#stages.all;
  }

  /** Loudness of what is said now, 0 to 1. */
  get level() {
    return this.#source?.level() ?? 0;
  }

  /**
   * @param {string | Uint8Array<ArrayBuffer>} data
   * @returns {Promise<boolean>} Whether it came back as it went.
   */
  echo(data) {
    return this.#echo.send(data);
  }

  /** Sends texts and compares what comes back; the result is in `dataCheck`. */
  async checkData() {
    this.dataCheck = await this.#echo.check().catch(() => ({ same: false, bytes: 0, ms: 0 }));
    this.#changed();
  }

  async #openSource() {
    this.#stages.begin();
    const source = await openSource(this.source);
    this.#stage(this.source);
    if (this.#isOver()) return source.stop();
    this.#source = source;
    if (this.source === 'microphone') this.answerTime = new AnswerTime(source.level);
    for (const track of source.stream.getTracks()) this.#peer.addTrack(track, source.stream);
  }

  async #offer() {
    this.#stages.begin();
    await this.#peer.setLocalDescription();
    this.#stage('offer');
    return this.#peer.localDescription?.sdp ?? '';
  }

  /**
   * @param {string} offer
   * @returns {Promise<string>} The answer.
   */
  async #exchange(offer) {
    this.#stages.begin();
    const { answer, path, edgeTimings, candidates } = await this.#signaling.start(offer);
    Object.assign(this, { path, edgeTimings, candidates });
    this.#stage('edge');
    return answer;
  }

  #onIceState() {
    const { iceConnectionState } = this.#peer;
    if (iceConnectionState === 'connected' && !this.#stages.has('ice')) {
      this.#stage('ice');
      this.#stages.begin();
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
    if (this.#stages.has('dtls')) return;
    this.#stage('dtls');
    this.#stages.begin();
  }

  async #onChannelOpen() {
    this.#reachDtls();
    this.#stage('data');
    await this.checkData();
  }

  /** @param {Event} event */
  #onSound(event) {
    if (event instanceof CustomEvent) this.answerTime?.soundStarts(event.detail);
    this.#changed();
  }

  /** @param {RTCTrackEvent} event */
  #onTrack({ track, receiver }) {
    this.remoteStream = new MediaStream([track]);
    if (!this.#isOver()) this.sound.start(receiver);
    this.dispatchEvent(new Event('audio'));
  }

  async #awaitFirstAudio() {
    while (!this.#isOver()) {
      const { packetsIn } = await this.stats();
      if (packetsIn > 0) {
        this.#reachDtls();
        return this.#stage('audio');
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_AUDIO_POLL));
    }
  }

  #tellUnlessAnswered() {
    if (this.state === 'connecting' && !this.#stages.has('ice')) this.#set('unanswered');
  }

  #failUnlessConnected() {
    if (this.state === 'connecting' || this.state === 'unanswered') this.#fail(this.#noMedia());
  }

  #noMedia() {
    if (!this.#stages.has('ice')) return noAnswer('No media path came up', this.candidates);
    if (this.#stages.has('dtls')) return noAnswer('The media path is gone', this.candidates);
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
    this.#source?.stop();
    this.answerTime?.stop();
    this.sound.stop();
    this.#set(state);
    // The edge first: a peer that says goodbye before it ends the session itself, and DELETE finds none.
    void this.#signaling.end().finally(() => this.#peer.close());
  }

  #isOver() {
    return this.state === 'ended' || this.state === 'failed';
  }

  /** @param {string} name */
  #stage(name) {
    this.#stages.end(name);
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
