/** The part of libwebrtc in Node that a scripted call uses; the package's own types need a DOM. */
import wrtc from '@roamhq/wrtc';

export interface PeerConnection {
  readonly connectionState: string;
  readonly iceConnectionState: string;
  addEventListener(type: 'track', listener: (event: { readonly track: Track }) => void): void;
  addEventListener(
    type: 'iceconnectionstatechange' | 'connectionstatechange',
    listener: () => void,
  ): void;
  addTrack(track: Track): void;
  createDataChannel(label: string): DataChannel;
  createOffer(options?: { iceRestart: boolean }): Promise<{ type: 'offer'; sdp: string }>;
  setLocalDescription(offer: { type: 'offer'; sdp: string }): Promise<void>;
  setRemoteDescription(answer: { type: 'answer'; sdp: string }): Promise<void>;
  getStats(): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
  close(): void;
}

export interface DataChannel {
  readonly readyState: string;
  binaryType: 'arraybuffer';
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(
    type: 'message',
    listener: (event: { readonly data: string | ArrayBuffer }) => void,
  ): void;
  send(data: string | Uint8Array): void;
  close(): void;
}

export interface Track {
  readonly kind: string;
  stop(): void;
}

/** Ten milliseconds of sound, or what came in of it. */
export interface AudioFrame {
  readonly samples: Int16Array;
  readonly sampleRate: number;
  readonly bitsPerSample?: number;
  readonly channelCount?: number;
  readonly numberOfFrames?: number;
}

export interface AudioSource {
  createTrack(): Track;
  onData(frame: AudioFrame): void;
}

export interface AudioSink {
  ondata: ((frame: AudioFrame) => void) | null;
  stop(): void;
}

export function createPeerConnection(): PeerConnection {
  return new wrtc.RTCPeerConnection();
}

export function createAudioSource(): AudioSource {
  return new wrtc.nonstandard.RTCAudioSource();
}

export function createAudioSink(track: Track): AudioSink {
  return new wrtc.nonstandard.RTCAudioSink(track);
}
