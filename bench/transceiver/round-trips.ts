/** How many round trips lie between a client's first check and the keys of its SRTP. */
import type { Setup } from './load-client.ts';
import { Subject } from './subject.ts';

/** Round-trip times between which the slope is taken, in milliseconds. */
const NEAR = 60;
const FAR = 260;
const CALLS = 5;

export interface RoundTrips {
  /** Milliseconds more for each millisecond of round-trip time. */
  readonly slope: number;
  /** Milliseconds at a round-trip time of {@link NEAR} and {@link FAR}, medians. */
  readonly near: number;
  readonly far: number;
}

/** @param setup The client's side of DTLS. */
export async function roundTrips(setup: Setup): Promise<RoundTrips> {
  const subject = await Subject.start('own');
  const timeAt = async (rtt: number) => {
    subject.delay = rtt / 2;
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) times.push(await (await subject.call(setup)).secured);
    return times.toSorted((a, b) => a - b)[Math.floor(CALLS / 2)]!;
  };
  try {
    await timeAt(0);
    const near = await timeAt(NEAR);
    const far = await timeAt(FAR);
    return { slope: (far - near) / (FAR - NEAR), near, far };
  } finally {
    await subject.close();
  }
}
