/** A client that speaks and pauses as it is told: libwebrtc with a tone for a voice, and ears for tones. */
import { TonePlayer } from '../../../local/tone-player.ts';
import { peak, toneShare } from '../../../local/tone.ts';
import {
  createAudioSink,
  createAudioSource,
  createPeerConnection,
  type AudioSink,
} from '../../../local/webrtc.ts';
import { until } from './until.ts';

export const TONE = 440;

/** Loudest sample of what is more than silence. */
const AUDIBLE = 1_000;

/** Share of the tone in a sound that is the tone. */
const IS_TONE = 0.8;

export interface TalkingClient extends AsyncDisposable {
  readonly offer: string;
  /** Types of the events that came on the data channel, in order. */
  readonly events: readonly string[];
  take(answer: string): Promise<void>;
  send(event: object): void;
  /** Says a tone from now on, until it is told to pause. */
  speak(): void;
  pause(): void;
  /** Milliseconds of the tone that were heard so far. */
  heard(): number;
}

export async function talkingClient(): Promise<TalkingClient> {
  const connection = createPeerConnection();
  const source = createAudioSource();
  const track = source.createTrack();
  connection.addTrack(track);
  const voice = new TonePlayer(source, TONE);
  const quiet = new TonePlayer(source, TONE, 0);
  quiet.start();
  let heard = 0;
  const sinks: AudioSink[] = [];
  connection.addEventListener('track', (event) => {
    const sink = createAudioSink(event.track);
    sink.ondata = ({ samples, sampleRate }) => {
      const isTone = peak(samples) > AUDIBLE && toneShare(samples, TONE, sampleRate) > IS_TONE;
      if (isTone) heard += (samples.length / sampleRate) * 1000;
    };
    sinks.push(sink);
  });
  const channel = connection.createDataChannel('oai-events');
  const events: string[] = [];
  channel.addEventListener('message', ({ data }) => {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString();
    const { type }: { type: string } = JSON.parse(text);
    events.push(type);
  });
  const offer = await connection.createOffer();
  await connection.setLocalDescription(offer);
  return {
    offer: offer.sdp,
    events,
    take: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
    send: (event) => channel.send(JSON.stringify(event)),
    speak() {
      quiet.stop();
      voice.start();
    },
    pause() {
      voice.stop();
      quiet.start();
    },
    heard: () => heard,
    async [Symbol.asyncDispose]() {
      voice.stop();
      quiet.stop();
      for (const sink of sinks) sink.stop();
      track.stop();
      connection.close();
      await until(() => connection.connectionState === 'closed');
    },
  };
}
