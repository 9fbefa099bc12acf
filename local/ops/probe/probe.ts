/** The whole check of a deployment from outside: name, edge, call, ICE, DTLS, sound, and each relay. */
import { lookup } from 'node:dns/promises';
import { reasonsOf } from '../../../origin/reasons.ts';
import { ProbeEdge, RefusedError, type PlacedCall } from './probe-edge.ts';
import { ProbePeer, type Heard } from './probe-peer.ts';
import {
  formatCandidate,
  parseCandidate,
  stunProbe,
  type Candidate,
  type CheckedSession,
} from './stun-probe.ts';

export const STAGES = ['dns', 'edge', 'call', 'ice', 'dtls', 'audio', 'end'] as const;
export type Stage = (typeof STAGES)[number];

export interface ProbeOptions {
  /** Base URL. */
  readonly edge: string;
  /** A client secret or an API key. */
  readonly key: string | undefined;
  /** When any are given, these alone are checked, and no media is sent. */
  readonly relays: readonly Candidate[];
  /** Milliseconds that each stage may take. */
  readonly timeout: number;
  /** Breaks it off; the call is ended all the same. */
  readonly signal: AbortSignal;
}

/** Plain JSON. */
export interface ProbeResult {
  readonly url: string;
  /** When it began, in ISO 8601. */
  readonly at: string;
  readonly status: 'ok' | 'degraded' | 'down' | 'unknown';
  /** What is wrong, in words; none when it is ok. */
  readonly faults: readonly Fault[];
  /** Milliseconds of each stage that was reached and worked. */
  readonly stages: Readonly<Partial<Record<Stage, number>>>;
  readonly heard?: Heard | undefined;
  readonly relays: readonly RelayCheck[];
  readonly path: PlacedCall['path'];
  readonly serverTiming: PlacedCall['serverTiming'];
}

export interface Fault {
  readonly stage: Stage | 'relay';
  readonly why: string;
}

/** A check to one candidate: how long its answer took, or why there is none. */
export interface RelayCheck {
  /** `ADDRESS:PORT/TRANSPORT`. */
  readonly candidate: string;
  readonly ms?: number;
  readonly why?: string;
}

/** Never rejects. Leaves no call behind. */
export async function probeDeployment(options: ProbeOptions): Promise<ProbeResult> {
  const peer = new ProbePeer();
  try {
    return await new Probe(options, peer).run();
  } finally {
    peer.close();
  }
}

class Probe {
  readonly #options: ProbeOptions;
  readonly #peer: ProbePeer;
  readonly #edge: ProbeEdge;
  readonly #at = new Date().toISOString();
  readonly #stages: Partial<Record<Stage, number>> = {};
  readonly #faults: Fault[] = [];
  readonly #interrupted: Promise<never>;
  #isRefused = false;
  #relays: readonly RelayCheck[] = [];
  #call: PlacedCall | undefined;
  #heard: Heard | undefined;

  constructor(options: ProbeOptions, peer: ProbePeer) {
    this.#options = options;
    this.#peer = peer;
    this.#edge = new ProbeEdge(options.edge, options.key, options.timeout);
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    options.signal.addEventListener('abort', () => reject(new Error('it was broken off')));
    this.#interrupted = promise;
  }

  async run(): Promise<ProbeResult> {
    const works = await this.#works();
    const isKnown = !this.#isRefused && !this.#options.signal.aborted;
    const whole = this.#faults.length === 0 ? 'ok' : 'degraded';
    return {
      url: this.#options.edge,
      at: this.#at,
      status: isKnown ? (works ? whole : 'down') : 'unknown',
      faults: this.#faults,
      stages: this.#stages,
      ...(this.#heard && { heard: this.#heard }),
      relays: this.#relays,
      path: this.#call?.path ?? {},
      serverTiming: this.#call?.serverTiming ?? {},
    };
  }

  async #works(): Promise<boolean> {
    const host = new URL(this.#options.edge).hostname.replace(/^\[(.*)\]$/, '$1');
    if (!(await this.#stage('dns', () => lookup(host)))) return false;
    if (!(await this.#stage('edge', () => this.#edge.healthz()))) return false;
    const offer = await this.#peer.offer();
    const placed = await this.#stage('call', () => this.#edge.place(offer));
    if (!placed) return false;
    this.#call = placed.value;
    try {
      return await this.#callWorks(placed.value, offer);
    } finally {
      await this.#stage('end', () => this.#edge.end(placed.value));
    }
  }

  async #callWorks(call: PlacedCall, offer: string): Promise<boolean> {
    const { relays, timeout } = this.#options;
    const isMedia = relays.length === 0;
    const connects = isMedia && (await this.#connects(call));
    if (connects) {
      this.#heard = (await this.#stage('audio', () => this.#peer.hear(timeout)))?.value;
    }
    const candidates = isMedia ? call.candidates.map((text) => parseCandidate(text)!) : relays;
    this.#relays = await this.#checkRelays(candidates, {
      server: {
        ufrag: sdpValue(call.answer, 'ice-ufrag'),
        password: sdpValue(call.answer, 'ice-pwd'),
      },
      client: { ufrag: sdpValue(offer, 'ice-ufrag') },
    });
    return isMedia ? connects : this.#relays.some(({ ms }) => ms !== undefined);
  }

  async #connects({ answer }: PlacedCall): Promise<boolean> {
    const { timeout } = this.#options;
    const isIce = await this.#stage('ice', async () => {
      await this.#peer.take(answer);
      await this.#peer.ice(timeout);
    });
    return Boolean(isIce && (await this.#stage('dtls', () => this.#peer.dtls(timeout))));
  }

  async #checkRelays(
    candidates: readonly Candidate[],
    session: CheckedSession,
  ): Promise<RelayCheck[]> {
    const checks = candidates.map(async (one): Promise<RelayCheck> => {
      const candidate = formatCandidate(one);
      try {
        const answer = stunProbe(one, session, this.#options.timeout);
        return { candidate, ms: rounded(await Promise.race([answer, this.#interrupted])) };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        this.#faults.push({ stage: 'relay', why: `${candidate}: ${why}` });
        return { candidate, why };
      }
    });
    return Promise.all(checks);
  }

  /** Times it; undefined when it failed, which is noted. */
  async #stage<T>(stage: Stage, act: () => Promise<T>): Promise<{ value: T } | undefined> {
    const start = performance.now();
    try {
      const done = act();
      const value = await (stage === 'end' ? done : Promise.race([done, this.#interrupted]));
      this.#stages[stage] = rounded(performance.now() - start);
      return { value };
    } catch (error) {
      this.#isRefused ||= error instanceof RefusedError;
      this.#faults.push({ stage, why: reasonsOf(error) });
      return undefined;
    }
  }
}

/** The value of the first `a=NAME:` line; empty when there is none, which no check goes through with. */
function sdpValue(sdp: string, name: string): string {
  return new RegExp(`^a=${name}:(.+?)\r?$`, 'm').exec(sdp)?.[1] ?? '';
}

/** To a tenth. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
