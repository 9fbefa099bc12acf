/** Whether sessions that come and go leave anything behind. */
import { connect } from './cost.ts';
import { Subject } from './subject.ts';

/** V8 takes tens of megabytes more for its young generation as it likes, which would hide a leak. */
const SMALL_YOUNG_GENERATION = ['--max-semi-space-size=2'];

export interface Churn {
  /** Sessions and native objects left at the end beyond those at the start. */
  readonly left: number;
  /** Growth of the heap over the second half of the rounds, in bytes per session opened in it. */
  readonly heapPerSession: number;
  /** The same of resident memory. */
  readonly residentPerSession: number;
}

/** @param rounds The first half lets heap and allocator grow to what they keep for good. */
export async function churn(sessions: number, rounds: number): Promise<Churn> {
  const half = Math.floor(rounds / 2);
  const subject = await Subject.start('own', SMALL_YOUNG_GENERATION);
  try {
    const atStart = await subject.usage();
    let warm = atStart;
    for (let round = 0; round < rounds; round++) {
      if (round === half) warm = await subject.usage();
      await connect(subject, sessions, round % 2 === 0 ? 'passive' : 'active');
      await subject.endAll();
    }
    const end = await subject.usage();
    const opened = sessions * (rounds - half);
    return {
      left: end.sessions - atStart.sessions + end.native - atStart.native,
      heapPerSession: (end.heap - warm.heap) / opened,
      residentPerSession: (end.resident - warm.resident) / opened,
    };
  } finally {
    await subject.close();
  }
}
