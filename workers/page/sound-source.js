/** What a call says: the microphone, or a tone for where there is none. */
import { CallError } from './call-error.js';

/** @typedef {'microphone' | 'tone'} SourceKind */

/**
 * @typedef {object} SoundSource
 * @property {MediaStream} stream
 * @property {() => void} stop
 * @property {() => number} level Loudness now, 0 to 1; 0 where the browser does not tell.
 */

const TONE_HZ = 330;
const TONE_LEVEL = 0.2;

/** The tone swells and fades, so that people hear that it lives. */
const SWELL_HZ = 1;
const SWELL_LEVEL = 0.1;

/** Samples that loudness is taken from: 21 ms at 48 kHz. */
const LEVEL_SAMPLES = 1024;

/** Milliseconds for the browser's sound to start, which waits for an output device. */
const START_TIMEOUT = 3_000;

/**
 * @param {SourceKind} kind
 * @returns {Promise<SoundSource>} Rejects with what `asCallError` can tell.
 */
export function openSource(kind) {
  return kind === 'tone' ? openTone() : openMicrophone();
}

async function openMicrophone() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext();
  const meter = meterOf(context);
  context.createMediaStreamSource(stream).connect(meter.node);
  const stop = () => {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  };
  return { stream, stop, level: meter.level };
}

async function openTone() {
  const context = new AudioContext();
  const late = new Promise((resolve) => setTimeout(resolve, START_TIMEOUT));
  await Promise.race([context.resume(), late]);
  if (context.state !== 'running') {
    void context.close();
    const detail = 'It has no device to play sound on. Plug one in, or use the microphone.';
    throw new CallError('This browser cannot make a tone', detail);
  }
  const output = context.createMediaStreamDestination();
  const meter = meterOf(context);
  const level = new GainNode(context, { gain: TONE_LEVEL });
  const tone = new OscillatorNode(context, { frequency: TONE_HZ });
  const swell = new OscillatorNode(context, { frequency: SWELL_HZ });
  swell.connect(new GainNode(context, { gain: SWELL_LEVEL })).connect(level.gain);
  tone.connect(level).connect(output);
  level.connect(meter.node);
  tone.start();
  swell.start();
  return { stream: output.stream, stop: () => void context.close(), level: meter.level };
}

/** @param {AudioContext} context */
function meterOf(context) {
  const node = new AnalyserNode(context, { fftSize: LEVEL_SAMPLES });
  const samples = new Float32Array(LEVEL_SAMPLES);
  const level = () => {
    if (context.state !== 'running') return 0;
    node.getFloatTimeDomainData(samples);
    return Math.sqrt(samples.reduce((sum, it) => sum + it * it, 0) / samples.length);
  };
  return { node, level };
}
