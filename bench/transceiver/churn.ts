/** Whether sessions that come and go leave anything behind. */
import { connect } from './cost.ts';
import { Subject } from './subject.ts';

export interface Churn {
  /** Sessions and native objects left at the end beyond those at the start. */
  readonly left: number;
  /** Growth of the heap from the first rounds to the last, in bytes per session opened between. */
  readonly heapPerSession: number;
  /** The same of resident memory. */
  readonly residentPerSession: number;
}

/** Rounds until the heap has what it keeps for good. */
const WARM_UP = 3;

export async function churn(sessions: number, rounds: number): Promise<Churn> {
  const subject = await Subject.start('own');
  try {
    const atStart = await subject.usage();
    let warm = atStart;
    for (let round = 0; round < rounds; round++) {
      if (round === WARM_UP) warm = await subject.usage();
      await connect(subject, sessions, round % 2 === 0 ? 'passive' : 'active');
      await subject.endAll();
    }
    const end = await subject.usage();
    const opened = sessions * (rounds - WARM_UP);
    return {
      left: end.sessions - atStart.sessions + end.native - atStart.native,
      heapPerSession: (end.heap - warm.heap) / opened,
      residentPerSession: (end.resident - warm.resident) / opened,
    };
  } finally {
    await subject.close();
  }
}
