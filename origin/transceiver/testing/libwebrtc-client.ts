/** A client with libwebrtc in it, the WebRTC of Chrome: sends a tone, hears, and has a data channel. */
import {
  createAudioSink,
  createAudioSource,
  createPeerConnection,
  type AudioSource,
  type DataChannel,
  type PeerConnection,
} from '../../../local/webrtc.ts';
import { until } from './until.ts';

const SAMPLE_RATE = 48_000;
const FRAME = 480;
const TONE = 440;
const AMPLITUDE = 8_000;

export interface LibwebrtcClient extends AsyncDisposable {
  readonly connection: PeerConnection;
  readonly channel: DataChannel;
  /** The offer; the connection has it as its local description. */
  readonly offer: string;
  /** Messages of the data channel, in order. */
  readonly messages: (string | ArrayBuffer)[];
  /** Audio frames heard, and the loudest sample among them. */
  heard(): { frames: number; peak: number };
  /** Packets of sound that never came, as its jitter buffer counts them. */
  lost(): Promise<number>;
  take(answer: string): Promise<void>;
  /** Resolves when the data channel is open. */
  opened(): Promise<void>;
}

export async function libwebrtcClient(options: { audio?: boolean } = {}): Promise<LibwebrtcClient> {
  const connection = createPeerConnection();
  let frames = 0;
  let peak = 0;
  const stops: (() => void)[] = [() => connection.close()];
  if (options.audio !== false) {
    const source = createAudioSource();
    const track = source.createTrack();
    connection.addTrack(track);
    connection.addEventListener('track', (event) => {
      const sink = createAudioSink(event.track);
      sink.ondata = ({ samples }) => {
        frames++;
        for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
      };
      stops.unshift(() => sink.stop());
    });
    const speaking = speak(source);
    stops.unshift(
      () => clearInterval(speaking),
      () => track.stop(),
    );
  }
  const channel = connection.createDataChannel('events');
  channel.binaryType = 'arraybuffer';
  const messages: (string | ArrayBuffer)[] = [];
  channel.addEventListener('message', ({ data }) => messages.push(data));
  const offer = await connection.createOffer();
  await connection.setLocalDescription(offer);
  return {
    connection,
    channel,
    messages,
    offer: offer.sdp,
    heard: () => ({ frames, peak }),
    async lost() {
      const stats = [...(await connection.getStats()).values()];
      const { packetsLost } = stats.find(({ type }) => type === 'inbound-rtp') ?? {};
      return Number(packetsLost);
    },
    take: (answer) => connection.setRemoteDescription({ type: 'answer', sdp: answer }),
    opened: async () => void (await until(() => channel.readyState === 'open')),
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop();
      await until(() => connection.connectionState === 'closed');
    },
  };
}

function speak(source: AudioSource): NodeJS.Timeout {
  let at = 0;
  const shape = { sampleRate: SAMPLE_RATE, bitsPerSample: 16, channelCount: 1 };
  return setInterval(
    () => {
      const samples = new Int16Array(FRAME);
      for (let i = 0; i < FRAME; i++, at++) {
        samples[i] = AMPLITUDE * Math.sin((2 * Math.PI * TONE * at) / SAMPLE_RATE);
      }
      source.onData({ samples, ...shape, numberOfFrames: FRAME });
    },
    (FRAME / SAMPLE_RATE) * 1000,
  );
}
