/** `npm run bench -- opus`: the codec of back ends, CPU per 20 ms frame of 24 kHz, mono. */
import { toneSamples } from '../../local/tone.ts';
import { openCodec } from '../../origin/backend/audio/open-codec.ts';

const RATE = 24_000;
const FRAME_MS = 20;
const FRAME = (RATE * FRAME_MS) / 1000;
const ROUNDS = 2_000;
const WARM_UP = 300;
const CODECS = 100;

/** Keeps nothing, and has no bar. @param log Called with a line for each figure. */
export async function benchOpus(log: (line: string) => void): Promise<void> {
  const codec = await openCodec('opus');
  const frames = Array.from({ length: 50 }, (_, i) => {
    const low = toneSamples(180, RATE, i * FRAME, FRAME, 6_000);
    const high = toneSamples(900, RATE, i * FRAME, FRAME, 2_500);
    const noisy = low.map((sample, at) => sample + high[at]! + (Math.random() - 0.5) * 1_500);
    return new Uint8Array(noisy.buffer);
  });
  const packets = frames.map((frame) => codec.encode(frame));

  log(`encode: ${microsecondsOf((i) => codec.encode(frames[i % frames.length]!))}`);
  log(`decode: ${microsecondsOf((i) => codec.decode(packets[i % packets.length]!))}`);
  log(
    `recover a lost frame by FEC: ${microsecondsOf((i) => codec.recover(packets[i % packets.length]!, FRAME_MS))}`,
  );
  log(`conceal a lost frame: ${microsecondsOf(() => codec.conceal(FRAME_MS))}`);
  codec.free();

  const before = process.memoryUsage().rss;
  const many = await Promise.all(Array.from({ length: CODECS }, () => openCodec('opus')));
  const each = (process.memoryUsage().rss - before) / CODECS / 1024;
  log(`memory of a call's codec: ${each.toFixed(0)} kB`);
  for (const one of many) one.free();
}

function microsecondsOf(work: (round: number) => void): string {
  for (let i = 0; i < WARM_UP; i++) work(i);
  const start = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i++) work(i);
  const { user, system } = process.cpuUsage(start);
  return `${((user + system) / ROUNDS).toFixed(1)} µs`;
}
