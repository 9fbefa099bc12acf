/** A transceiver's link to its cluster's roster at the edge: it says every moment what it can take. */
import type { Logger } from 'pino';
import { WebSocket } from 'ws';
import {
  ROSTER_CHANGE,
  ROSTER_DEAD,
  ROSTER_HEARTBEAT,
  type TransceiverReport,
} from '../protocol/roster.ts';
import { sign } from '../protocol/signature.ts';

/** Milliseconds before the first new attempt after a lost link; doubles with every failure. */
export const FIRST_BACKOFF = 100;

/** Milliseconds between attempts at most, so that a roster that comes back is found soon. */
export const LAST_BACKOFF = 5_000;

/** Milliseconds a link stays open after a close was asked for before it is cut. */
const CLOSE_PATIENCE = 1_000;

/** What to do about refusals that do not pass by themselves, by status. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'compare signingKey with the SIGNING_KEY of the edge, and the clocks',
  404: 'put this cluster into the steering table of the edge',
};

/** The same for all else. */
const PATIENCE = 'this passes once the edge can be reached';

export interface RosterLinkOptions {
  /** Base URL of the edge, http or https. */
  readonly edge: string;
  readonly cluster: number;
  readonly signingKey: Uint8Array;
  readonly transceiver: number;
  /** What to report; called on connect, at each heartbeat, and to see whether it has changed. */
  readonly report: () => TransceiverReport;
  readonly log: Logger;
}

export interface RosterLink {
  /** True while the roster takes reports. */
  readonly connected: boolean;
  /** What to do, when the edge was reached last and refused what no time mends. */
  readonly refusal: string | undefined;
  /** Reports at once what should not wait until the change is seen. */
  reportNow(): void;
  /** Leaves the roster. Never fails. */
  close(): Promise<void>;
}

/**
 * Joins the roster and keeps joining for as long as it takes. Never throws: a transceiver serves its
 * calls whether or not the edge can be reached.
 */
export function startRosterLink(options: RosterLinkOptions): RosterLink {
  return new ReconnectingLink(options);
}

class ReconnectingLink implements RosterLink {
  readonly #options: RosterLinkOptions;
  readonly #url: string;
  #socket: WebSocket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** The last report as it was sent. */
  #told = '';
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #refusal: string | undefined;
  /** What the last warning said to do; undefined since the roster was joined. */
  #advised: string | undefined;
  #closed = false;
  /** Milliseconds of the monotonic clock. */
  #heardAt = 0;

  constructor(options: RosterLinkOptions) {
    this.#options = options;
    const base = options.edge.replace(/^http/, 'ws').replace(/\/$/, '');
    this.#url = `${base}/v1/roster/${options.cluster}`;
    this.#connect();
  }

  get connected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  reportNow(): void {
    if (this.#socket && this.connected) this.#send(this.#socket);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#rest();
    const socket = this.#socket;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => socket.terminate(), CLOSE_PATIENCE);
      socket.once('close', () => {
        clearTimeout(cut);
        resolve();
      });
      socket.close(1000);
    });
  }

  #connect(): void {
    const { cluster, signingKey, transceiver } = this.#options;
    const token = sign(signingKey, cluster, { op: 'join', transceiver });
    const socket = new WebSocket(this.#url, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: ROSTER_DEAD,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    let reason: string | undefined;
    socket.on('open', () => this.#joined(socket));
    socket.on('message', () => (this.#heardAt = performance.now()));
    socket.on('unexpected-response', (request, response) => {
      reason = `the edge answered ${response.statusCode}`;
      this.#refusal = ADVICE[response.statusCode ?? 0];
      response.resume();
      request.destroy();
      socket.terminate();
    });
    socket.on('error', (error) => (reason ??= error.message));
    socket.on('close', (code, text) => {
      this.#lost(reason ?? `${code} ${text.toString()}`.trim());
    });
  }

  #joined(socket: WebSocket): void {
    this.#options.log.info({ url: this.#url }, 'joined the roster');
    this.#advised = undefined;
    this.#refusal = undefined;
    this.#heardAt = performance.now();
    this.#send(socket);
    this.#heartbeat = setInterval(() => this.#beat(socket), ROSTER_HEARTBEAT);
    this.#watch = setInterval(() => this.#sendChange(socket), ROSTER_CHANGE);
  }

  #beat(socket: WebSocket): void {
    // A peer that vanished without a word shows only in this: it answers no ping.
    if (performance.now() - this.#heardAt >= ROSTER_DEAD) {
      socket.terminate();
      return;
    }
    this.#failures = 0;
    socket.send('ping');
    this.#send(socket);
  }

  #send(socket: WebSocket): void {
    this.#told = JSON.stringify(this.#options.report());
    socket.send(this.#told);
  }

  #sendChange(socket: WebSocket): void {
    if (JSON.stringify(this.#options.report()) !== this.#told) this.#send(socket);
  }

  #rest(): void {
    clearInterval(this.#heartbeat);
    clearInterval(this.#watch);
  }

  #lost(reason: string): void {
    this.#rest();
    if (this.#closed) return;
    const advice = this.#refusal ?? PATIENCE;
    if (advice !== this.#advised) {
      this.#advised = advice;
      this.#options.log.warn(
        { url: this.#url, reason },
        `out of the roster: no new calls come here; ${advice}; trying on`,
      );
    }
    const backoff = Math.min(LAST_BACKOFF, FIRST_BACKOFF * 2 ** this.#failures++);
    // Half of it at random, so that a fleet that lost its edge does not come back as one.
    this.#retry = setTimeout(() => this.#connect(), backoff * (0.5 + Math.random() / 2));
  }
}
