/** What a probe asks of the edge. */
import * as v from 'valibot';
import { readCandidates, readRelayPath, readServerTiming } from '../../answer.ts';

/** Characters of an answer's body that are told. */
const TOLD = 300;

/** What is told of a problem (RFC 9457). */
const ProblemSchema = v.object({ detail: v.string() });

/** The edge is there and refuses whoever asks, so nothing is known of what it does for others. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Statuses that are about the caller: its key, its origin, its limits. */
const CALLERS_OWN = new Set([401, 403, 429]);

export interface PlacedCall {
  readonly answer: string;
  readonly url: URL;
  /** `colo`, `cluster`, `ingress`, `transceiver`. */
  readonly path: Readonly<Record<string, string>>;
  /** Milliseconds of each step of the edge. */
  readonly serverTiming: Readonly<Record<string, number>>;
  /** As `ADDRESS:PORT/TRANSPORT`. */
  readonly candidates: readonly string[];
}

export class ProbeEdge {
  readonly #edge: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeout: number;

  /** @param timeout Milliseconds of a request. */
  constructor(edge: string, key: string | undefined, timeout: number) {
    this.#edge = edge;
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    this.#timeout = timeout;
  }

  /** @throws Error when it does not serve. */
  async healthz(): Promise<void> {
    const { status } = await this.#ask(new URL(`${this.#edge}/healthz`), { method: 'GET' });
    if (status !== 200) throw new Error(`/healthz gives ${status}`);
  }

  /** @throws RefusedError when it is the caller's own fault. @throws Error for any other. */
  async place(offer: string): Promise<PlacedCall> {
    const { status, headers, text } = await this.#ask(new URL(`${this.#edge}/v1/calls`), {
      method: 'POST',
      headers: { ...this.#headers, 'content-type': 'application/sdp' },
      body: offer,
    });
    const told = `the offer is answered with ${status}: ${detailOf(text)}`;
    if (CALLERS_OWN.has(status)) throw new RefusedError(told);
    const location = headers.get('location');
    if (status !== 201 || location === null) throw new Error(told);
    return {
      answer: text,
      url: new URL(location, this.#edge),
      path: readRelayPath(headers.get('relay-path')),
      serverTiming: readServerTiming(headers.get('server-timing')),
      candidates: readCandidates(text),
    };
  }

  /** @throws Error when the call is not ended. */
  async end({ url }: PlacedCall): Promise<void> {
    const { status } = await this.#ask(url, { method: 'DELETE', headers: this.#headers });
    if (status !== 200) throw new Error(`hanging up gives ${status}`);
  }

  async #ask(url: URL, init: RequestInit) {
    const signal = AbortSignal.timeout(this.#timeout);
    const response = await fetch(url, { ...init, signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** What is wrong, in the edge's own words; the body as it is when whatever answers is none. */
function detailOf(text: string): string {
  try {
    return v.parse(ProblemSchema, JSON.parse(text)).detail;
  } catch {
    return text.slice(0, TOLD);
  }
}
