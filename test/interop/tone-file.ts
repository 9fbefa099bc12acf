/** A tone as a WAV file, which Chromium takes for a microphone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toneSamples } from '../../local/tone.ts';

const RATE = 48_000;
const SECONDS = 10;
const AMPLITUDE = 8_000;
/** Bytes of a header for PCM, and of what follows the field of the whole length. */
const HEADER = 44;
const FORMAT_LENGTH = 16;
const PCM = 1;
const SAMPLE_BYTES = 2;

export interface ToneFile extends AsyncDisposable {
  readonly path: string;
}

export async function toneFile(hz: number): Promise<ToneFile> {
  const folder = await mkdtemp(join(tmpdir(), 'tone-'));
  const path = join(folder, 'tone.wav');
  const samples = toneSamples(hz, RATE, 0, RATE * SECONDS, AMPLITUDE);
  await writeFile(path, Buffer.concat([header(samples.byteLength), Buffer.from(samples.buffer)]));
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function header(length: number): Buffer {
  const bytes = Buffer.alloc(HEADER);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(HEADER - 8 + length, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(FORMAT_LENGTH, 16);
  bytes.writeUInt16LE(PCM, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(RATE, 24);
  bytes.writeUInt32LE(RATE * SAMPLE_BYTES, 28);
  bytes.writeUInt16LE(SAMPLE_BYTES, 32);
  bytes.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(length, 40);
  return bytes;
}
