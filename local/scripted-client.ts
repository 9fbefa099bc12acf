/** The client of a scripted call: libwebrtc itself, which says a tone and listens for it. */
import { setTimeout as delay } from 'node:timers/promises';
import { readCandidates, readRelayPath, readServerTiming } from './answer.ts';
import type { CallStages, ConnectedCall } from './connected-call.ts';
import { fragmentOf, withFragment } from '../workers/page/ice-restart.js';
import { placeHeaders, type Place } from './place.ts';
import { peak, ToneListener } from './tone.ts';
import { TonePlayer } from './tone-player.ts';
import {
  createAudioSink,
  createAudioSource,
  createPeerConnection,
  type AudioFrame,
  type AudioSink,
  type Track,
} from './webrtc.ts';

const DEFAULT_TONE_HZ = 440;

/** Milliseconds a call has to get through every stage. */
const CALL_TIMEOUT = 15_000;

/** Milliseconds between two looks at what is awaited. */
const POLL = 5;

/** Part of the sound's power that must be the tone; coding and jitter take some. */
const TONE_HEARD = 0.8;

/** Loudest sample of a frame that is more than silence; the tone's own is {@link TonePlayer}'s. */
const AUDIBLE = 500;

/** The label that clients of the Realtime API open. */
const CHANNEL_LABEL = 'oai-events';

export interface ScriptedClientOptions {
  /** Base URL of the edge. */
  readonly edge: string;
  readonly place: Place;
  /** 440 unless given. */
  readonly toneHz?: number;
  /** Leads media another way than the answer says: gives the answer with other candidates. */
  readonly reroute?: (answer: string) => Promise<string>;
  /** Called with all that is heard, about every 10 ms: one channel of it. */
  readonly onSound?: (samples: Int16Array, sampleRate: number) => void;
}

/** A call that did not get through, with the stage it stopped at. */
export class ScriptedCallError extends Error {
  override readonly name = 'ScriptedCallError';
}

/** One call. It must be closed, or libwebrtc's threads keep the process alive. */
export class ScriptedClient {
  readonly #options: ScriptedClientOptions;
  readonly #peer = createPeerConnection();
  readonly #source = createAudioSource();
  readonly #microphone = this.#source.createTrack();
  readonly #player: TonePlayer;
  readonly #channel = this.#peer.createDataChannel(CHANNEL_LABEL);
  readonly #marks = new Map<keyof CallStages, number>();
  readonly #echoes: Buffer[] = [];
  #listener: ToneListener;
  #sink: AudioSink | undefined;
  #location: string | undefined;
  #answer = '';
  #start = 0;

  constructor(options: ScriptedClientOptions) {
    const hz = options.toneHz ?? DEFAULT_TONE_HZ;
    this.#options = options;
    this.#listener = new ToneListener(hz);
    this.#player = new TonePlayer(this.#source, hz);
    this.#channel.binaryType = 'arraybuffer';
    this.#peer.addTrack(this.#microphone);
    this.#peer.addEventListener('track', ({ track }) => this.#listenTo(track));
    this.#peer.addEventListener('iceconnectionstatechange', () => {
      if (/^(connected|completed)$/.test(this.#peer.iceConnectionState)) this.#mark('ice');
    });
    this.#peer.addEventListener('connectionstatechange', () => {
      if (this.#peer.connectionState === 'connected') this.#mark('dtls');
    });
    this.#channel.addEventListener('open', () => this.#mark('dataChannel'));
    this.#channel.addEventListener('message', ({ data }) => {
      this.#echoes.push(typeof data === 'string' ? Buffer.from(data) : Buffer.from(data));
    });
  }

  /** Share of the tone in the sound of the last moments, 0 to 1. */
  get toneShare(): number {
    return this.#listener.share;
  }

  /** `connected` as long as the path works. */
  get connectionState(): string {
    return this.#peer.connectionState;
  }

  /** Forgets what was heard so far, so that only new sound counts. */
  forgetSound(): void {
    this.#listener = new ToneListener(this.#options.toneHz ?? DEFAULT_TONE_HZ);
  }

  /** Sends on the data channel and waits for the same to come back. */
  async echo(data: string | Uint8Array): Promise<void> {
    const expected = Buffer.from(data);
    this.#channel.send(data);
    await this.#until('the data channel to echo', () => {
      return this.#echoes.some((echo) => expected.equals(echo));
    });
  }

  /** Waits until the tone is what is heard. */
  async hearTone(): Promise<void> {
    await this.#until('the tone to come back', () => this.toneShare >= TONE_HEARD);
  }

  /** Names the candidate that media goes to: another after each ICE restart, be it at the same address. */
  async usedCandidate(): Promise<unknown> {
    const stats = await this.#peer.getStats();
    const transport = [...stats.values()].find(({ type }) => type === 'transport');
    return stats.get(String(transport?.selectedCandidatePairId))?.remoteCandidateId;
  }

  /** RTP packets received so far. */
  async packetsReceived(): Promise<number> {
    const stats = await this.#peer.getStats();
    const inbound = [...stats.values()].filter(({ type }) => type === 'inbound-rtp');
    return inbound.reduce((sum, { packetsReceived }) => sum + Number(packetsReceived ?? 0), 0);
  }

  /** Goes through every stage. @throws ScriptedCallError that names the stage it stopped at. */
  async connect(): Promise<ConnectedCall> {
    this.#player.start();
    const offer = await this.#peer.createOffer();
    await this.#peer.setLocalDescription(offer);
    this.#start = performance.now();
    const { sdp, headers } = await this.#signal(offer.sdp);
    this.#mark('signaling');
    await this.#takeAnswer(sdp);
    await this.#until('ICE to connect', () => this.#marks.has('ice'));
    await this.#until('DTLS to connect', () => this.#marks.has('dtls'));
    await this.#until('the data channel to open', () => this.#marks.has('dataChannel'));
    await this.echo('global relay');
    this.#mark('dataEcho');
    await this.#until('any sound to come back', () => this.#marks.has('firstAudio'));
    await this.hearTone();
    this.#mark('tone');
    return {
      stages: this.#stages(),
      serverTiming: readServerTiming(headers.get('server-timing')),
      path: readRelayPath(headers.get('relay-path')),
      candidates: readCandidates(sdp),
      location: this.#location!,
    };
  }

  /**
   * Restarts ICE under the call, as a client does whose network has changed.
   *
   * @returns The candidates the call has now, as `ADDRESS:PORT/TRANSPORT`.
   * @throws ScriptedCallError when the edge does not take it.
   */
  async restartIce(): Promise<string[]> {
    const offer = await this.#peer.createOffer({ iceRestart: true });
    await this.#peer.setLocalDescription(offer);
    const response = await this.#fetch(new URL(this.#location ?? '', this.#options.edge), {
      method: 'PATCH',
      headers: {
        'content-type': 'application/trickle-ice-sdpfrag',
        'if-match': '*',
        ...placeHeaders(this.#options.place),
      },
      body: fragmentOf(offer.sdp),
    });
    const fragment = await response.text();
    if (response.status !== 200) {
      throw new ScriptedCallError(`Restarting ICE gave ${response.status}: ${fragment}`);
    }
    await this.#takeAnswer(withFragment(this.#answer, fragment));
    return readCandidates(fragment);
  }

  /** @throws ScriptedCallError when the edge does not end the call. */
  async hangUp(): Promise<void> {
    if (this.#location === undefined) return;
    const url = new URL(this.#location, this.#options.edge);
    this.#location = undefined;
    const response = await this.#fetch(url, { method: 'DELETE' });
    if (response.status !== 200) {
      throw new ScriptedCallError(`Hanging up gave ${response.status}: ${await response.text()}`);
    }
    await response.arrayBuffer();
  }

  /** Lets go of everything; hangs up first when that is still to be done. Never throws. */
  async close(): Promise<void> {
    await this.hangUp().catch(() => undefined);
    this.#player.stop();
    this.#sink?.stop();
    this.#microphone.stop();
    this.#channel.close();
    this.#peer.close();
  }

  async #takeAnswer(sdp: string): Promise<void> {
    this.#answer = sdp;
    const { reroute = (answer) => answer } = this.#options;
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: await reroute(sdp) });
  }

  async #signal(offer: string): Promise<{ sdp: string; headers: Headers }> {
    const response = await this.#fetch(new URL('/v1/calls', this.#options.edge), {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', ...placeHeaders(this.#options.place) },
      body: offer,
    });
    const body = await response.text();
    if (response.status !== 201) {
      throw new ScriptedCallError(`The edge answered ${response.status}: ${body}`);
    }
    this.#location = response.headers.get('location') ?? undefined;
    if (this.#location === undefined) throw new ScriptedCallError('The answer has no Location.');
    return { sdp: body, headers: response.headers };
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { ...init, signal: AbortSignal.timeout(CALL_TIMEOUT) });
    } catch (error) {
      throw new ScriptedCallError(`The edge at ${url.origin} cannot be reached`, { cause: error });
    }
  }

  #listenTo(track: Track): void {
    const sink = createAudioSink(track);
    sink.ondata = (frame) => this.#hear(frame);
    this.#sink = sink;
  }

  #hear({ samples, sampleRate, channelCount = 1 }: AudioFrame): void {
    const mono = channelCount === 1 ? samples : samples.filter((_, i) => i % channelCount === 0);
    if (peak(mono) >= AUDIBLE) this.#mark('firstAudio');
    this.#listener.hear(mono, sampleRate);
    this.#options.onSound?.(mono, sampleRate);
  }

  #stages(): CallStages {
    const at = (stage: keyof CallStages) => this.#marks.get(stage)!;
    return {
      signaling: at('signaling'),
      ice: at('ice'),
      dtls: at('dtls'),
      dataChannel: at('dataChannel'),
      dataEcho: at('dataEcho'),
      firstAudio: at('firstAudio'),
      tone: at('tone'),
    };
  }

  #mark(stage: keyof CallStages): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, performance.now() - this.#start);
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    const deadline = performance.now() + CALL_TIMEOUT;
    while (!condition()) {
      if (this.#peer.connectionState === 'failed') {
        throw new ScriptedCallError(`The connection failed while waiting for ${what}.`);
      }
      if (performance.now() > deadline) {
        const { iceConnectionState, connectionState } = this.#peer;
        const state = `ICE is ${iceConnectionState}, the connection ${connectionState}`;
        throw new ScriptedCallError(`Waited ${CALL_TIMEOUT / 1000} s for ${what}; ${state}.`);
      }
      await delay(POLL);
    }
  }
}
