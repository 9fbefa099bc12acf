/** The client of a probe: libwebrtc, which says a tone and waits for any sound. */
import { setTimeout as delay } from 'node:timers/promises';
import { TonePlayer } from '../../tone-player.ts';
import { peak, ToneListener } from '../../tone.ts';
import {
  createAudioSink,
  createAudioSource,
  createPeerConnection,
  type AudioFrame,
  type AudioSink,
  type Track,
} from '../../webrtc.ts';

const TONE_HZ = 440;

/** Milliseconds between two looks at what is awaited. */
const POLL = 5;

/** Milliseconds of the tone until the microphone falls silent: a voice answers once its caller pauses. */
const TALK = 1_500;

/** Milliseconds of sound after which it is not the tone. */
const TONE_PATIENCE = 2_000;

/** Part of the sound's power that must be the tone; coding and jitter take some. */
const TONE_HEARD = 0.8;

/** Loudest sample of a frame that is more than silence. */
const AUDIBLE = 500;

/** The label that clients of the Realtime API open. */
const CHANNEL_LABEL = 'oai-events';

/** What was heard: what was said, or something else. */
export type Heard = 'tone' | 'sound';

/** Must be closed, or libwebrtc's threads keep the process alive. */
export class ProbePeer {
  readonly #peer = createPeerConnection();
  readonly #source = createAudioSource();
  readonly #microphone = this.#source.createTrack();
  readonly #player = new TonePlayer(this.#source, TONE_HZ);
  readonly #listener = new ToneListener(TONE_HZ);
  readonly #channel = this.#peer.createDataChannel(CHANNEL_LABEL);
  #sink: AudioSink | undefined;
  #soundAt: number | undefined;

  constructor() {
    this.#peer.addTrack(this.#microphone);
    this.#peer.addEventListener('track', ({ track }) => this.#listenTo(track));
  }

  async offer(): Promise<string> {
    const offer = await this.#peer.createOffer();
    await this.#peer.setLocalDescription(offer);
    return offer.sdp;
  }

  async take(answer: string): Promise<void> {
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer });
  }

  /** @param timeout Milliseconds, as of the others. @throws Error when it does not connect. */
  async ice(timeout: number): Promise<void> {
    const isUp = await this.#within(timeout, () =>
      /^(connected|completed)$/.test(this.#peer.iceConnectionState),
    );
    if (!isUp) throw new Error(`ICE is ${this.#peer.iceConnectionState}`);
  }

  /** @throws Error when it does not connect. */
  async dtls(timeout: number): Promise<void> {
    const isUp = await this.#within(timeout, () => this.#peer.connectionState === 'connected');
    if (!isUp) throw new Error(`the connection is ${this.#peer.connectionState}`);
  }

  /** Talks, pauses, and waits for any sound. @throws Error when none comes. */
  async hear(timeout: number): Promise<Heard> {
    this.#player.start();
    const pause = setTimeout(() => this.#player.stop(), TALK);
    const isTone = (): boolean => this.#listener.share >= TONE_HEARD;
    try {
      const isHeard = await this.#within(timeout, () => this.#soundAt !== undefined);
      if (!isHeard) throw new Error('no sound came');
      return (await this.#within(TONE_PATIENCE, isTone)) ? 'tone' : 'sound';
    } finally {
      clearTimeout(pause);
      this.#player.stop();
    }
  }

  close(): void {
    this.#player.stop();
    this.#sink?.stop();
    this.#microphone.stop();
    this.#channel.close();
    this.#peer.close();
  }

  #listenTo(track: Track): void {
    const sink = createAudioSink(track);
    sink.ondata = (frame) => this.#hear(frame);
    this.#sink = sink;
  }

  #hear({ samples, sampleRate, channelCount = 1 }: AudioFrame): void {
    const mono = channelCount === 1 ? samples : samples.filter((_, i) => i % channelCount === 0);
    if (peak(mono) >= AUDIBLE) this.#soundAt ??= performance.now();
    this.#listener.hear(mono, sampleRate);
  }

  /** Whether the condition was met in time; ends early when the connection has failed. */
  async #within(timeout: number, condition: () => boolean): Promise<boolean> {
    const deadline = performance.now() + timeout;
    while (!condition()) {
      if (this.#peer.connectionState === 'failed' || performance.now() > deadline) return false;
      await delay(POLL);
    }
    return true;
  }
}
