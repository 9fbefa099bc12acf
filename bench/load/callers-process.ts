/** Many callers in a process of their own, so that their work is not that of what is measured. */
import process from 'node:process';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { runService } from '../../origin/parent.ts';
import { createCertificate } from '../../origin/transceiver/certificate.ts';
import { DtlsContext } from '../../origin/transceiver/dtls-context.ts';
import { CALLERS_VARIABLE, type CallersOptions } from './callers-options.ts';
import { LoadCall } from './load-call.ts';

/** Packets a second of a voice call. */
const RATE = 50;
/** Parts of the packet interval over which the calls are spread, as those of real callers are. */
const SLOTS = 20;

/** Hosts of a network of 24 bits, or a few less. */
const HOSTS = 250;

/** Calls that begin at once. */
const AT_ONCE = 8;

/** Milliseconds without a packet after which none is on its way any more, and between two looks. */
const DRAIN = 2_000;
const DRAIN_POLL = 50;

export interface CallersService {
  readonly ready: null;
  readonly answers: Callers['answers'];
}

/** So far, of all calls together. */
export interface SpokenTotals {
  readonly sent: number;
  readonly received: number;
  /** Calls whose DTLS has ended. */
  readonly ended: number;
  /** Of any call, in milliseconds. */
  readonly longestGap: number;
  /** Packets that each call which lost any has lost. */
  readonly lost: readonly number[];
}

/** What came of calls that were made and ended, again and again. */
export interface Repeated {
  /** Milliseconds from the offer to the keys of each. */
  readonly took: readonly number[];
  readonly failures: readonly string[];
}

class Callers {
  readonly #options: CallersOptions;
  readonly #dtls: { context: DtlsContext; fingerprint: string };
  #calls: LoadCall[] = [];
  #turn = 0;

  private constructor(
    options: CallersOptions,
    dtls: { context: DtlsContext; fingerprint: string },
  ) {
    this.#options = options;
    this.#dtls = dtls;
  }

  static async create(options: CallersOptions): Promise<Callers> {
    const certificate = await createCertificate();
    const { fingerprint } = certificate;
    return new Callers(options, { context: new DtlsContext(certificate), fingerprint });
  }

  readonly answers = {
    /** Makes so many calls, and holds them. */
    place: async (count: number): Promise<void> => {
      const wanted = this.#calls.length + count;
      while (this.#calls.length < wanted) {
        const more = Math.min(AT_ONCE, wanted - this.#calls.length);
        this.#calls.push(...(await Promise.all(Array.from({ length: more }, () => this.#place()))));
      }
    },
    /** Lets all of them speak for so many seconds, and waits for what comes back. */
    speak: (seconds: number): Promise<void> => this.#speak(seconds),
    totals: (): SpokenTotals => this.#totals(),
    /** Ends all calls. */
    hangUp: async (): Promise<void> => {
      const calls = this.#calls.splice(0);
      while (calls.length > 0) {
        await Promise.all(calls.splice(0, AT_ONCE).map((call) => call.hangUp()));
      }
    },
    /** Makes calls and ends them once they have their keys, so many at a time. */
    repeat: (what: { atOnce: number; seconds: number }): Promise<Repeated> => this.#repeat(what),
  };

  #place(): Promise<LoadCall> {
    const turn = this.#turn++;
    const { edge, id, places, keys } = this.#options;
    return LoadCall.place({
      edge,
      place: places[turn % places.length]!,
      address: addressOf(id, turn),
      key: keys[turn % keys.length]!,
      dtls: this.#dtls,
      // One that takes turns with the places, too, would meet each region in one role alone.
      setup: Math.floor(turn / places.length) % 2 === 0 ? 'active' : 'passive',
    });
  }

  async #speak(seconds: number): Promise<void> {
    for (const [i, call] of this.#calls.entries()) {
      call.prepare(i);
      await nextTurn();
    }
    const start = performance.now();
    const slots = seconds * RATE * SLOTS;
    const slotLength = 1000 / RATE / SLOTS;
    for (let slot = 0; slot < slots; slot++) {
      const early = start + slot * slotLength - performance.now();
      // One that is late still reads what comes in.
      await (early > 0 ? delay(early) : nextTurn());
      for (let i = slot % SLOTS; i < this.#calls.length; i += SLOTS) this.#calls[i]!.speak();
    }
    for (let last = -1, quiet = 0; quiet < DRAIN; quiet += DRAIN_POLL) {
      const { sent, received } = this.#totals();
      if (received === sent) return;
      if (received !== last) quiet = 0;
      last = received;
      await delay(DRAIN_POLL);
    }
  }

  #totals(): SpokenTotals {
    const sum = (of: (call: LoadCall) => number) =>
      this.#calls.reduce((total, call) => total + of(call), 0);
    return {
      sent: sum(({ sent }) => sent),
      received: sum(({ received }) => received),
      ended: sum(({ ended }) => (ended ? 1 : 0)),
      longestGap: Math.max(0, ...this.#calls.map(({ longestGap }) => longestGap)),
      lost: this.#calls.map(({ sent, received }) => sent - received).filter((lost) => lost !== 0),
    };
  }

  async #repeat({ atOnce, seconds }: { atOnce: number; seconds: number }): Promise<Repeated> {
    const took: number[] = [];
    const failures: string[] = [];
    const end = performance.now() + seconds * 1000;
    const one = async () => {
      while (performance.now() < end) {
        const start = performance.now();
        try {
          const call = await this.#place();
          took.push(performance.now() - start);
          await call.hangUp();
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return { took, failures };
  }
}

/** One of 127.0.0.0/8, all of which are this machine's; not that of its services. */
function addressOf(id: number, turn: number): string {
  return ['127', id, Math.floor(turn / HOSTS) % HOSTS, (turn % HOSTS) + 1].join('.');
}

try {
  await runService(async () => {
    const options: CallersOptions = JSON.parse(process.env[CALLERS_VARIABLE] ?? '');
    const callers = await Callers.create(options);
    return { ready: null, answers: callers.answers, close: async () => undefined };
  });
} catch {
  // Its parent has been told why.
  process.exit(1);
}
