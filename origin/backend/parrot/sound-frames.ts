/** Sound of one coding, cut into frames that can be listened to. */
import { expandG711, type G711 } from '../audio/g711.ts';

/** Milliseconds of a frame. */
export const LISTEN_MS = 20;

export type SoundType = 'audio/pcm' | 'audio/pcmu' | 'audio/pcma';

const G711_OF: Readonly<Partial<Record<SoundType, G711>>> = {
  'audio/pcmu': 'pcmu',
  'audio/pcma': 'pcma',
};
const PCM_RATE = 24_000;
const PCM_BYTES_PER_MS = 48;
const G711_BYTES_PER_MS = 8;

/** Of the chime: in hertz, milliseconds each, and in units of a sample. */
const NOTES = [523, 784];
const NOTE_MS = 120;
const NOTE_AMPLITUDE = 4_000;

export class SoundFrames {
  readonly bytesPerMs: number;
  readonly #codec: G711 | undefined;
  #rest = new Uint8Array(0);

  constructor(type: SoundType) {
    this.#codec = G711_OF[type];
    this.bytesPerMs = this.#codec ? G711_BYTES_PER_MS : PCM_BYTES_PER_MS;
  }

  /** The frames that are complete with these bytes; what is left waits for more. */
  push(bytes: Uint8Array): Uint8Array[] {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const length = LISTEN_MS * this.bytesPerMs;
    const frames: Uint8Array[] = [];
    let at = 0;
    for (; at + length <= all.length; at += length) frames.push(all.slice(at, at + length));
    this.#rest = all.slice(at);
    return frames;
  }

  clear(): void {
    this.#rest = new Uint8Array(0);
  }

  /** Its samples, to be looked at. */
  samples(frame: Uint8Array): Int16Array {
    if (this.#codec) return expandG711(this.#codec, frame);
    return new Int16Array(frame.buffer, frame.byteOffset, frame.length / 2);
  }
}

/** Two rising notes: the parrot listens. Undefined for codings it has none in. */
export function chime(type: SoundType): Uint8Array | undefined {
  if (type !== 'audio/pcm') return undefined;
  const samples = new Int16Array((NOTE_MS * NOTES.length * PCM_BYTES_PER_MS) / 2);
  const perNote = samples.length / NOTES.length;
  for (let i = 0; i < samples.length; i++) {
    const at = (i % perNote) / perNote;
    const hz = NOTES[Math.floor(i / perNote)]!;
    const loud = NOTE_AMPLITUDE * Math.sin(Math.PI * at);
    samples[i] = loud * Math.sin((2 * Math.PI * hz * i) / PCM_RATE);
  }
  return new Uint8Array(samples.buffer);
}
