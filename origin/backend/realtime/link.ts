/** One call's WebSocket to a back end: opened anew when it breaks, given up after a few attempts. */
import { WebSocket, type RawData } from 'ws';

/** Bytes of the largest event taken. */
export const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/** Bytes that may wait to be sent: some seconds of sound; what comes on top is dropped. */
const MAX_UNSENT = 256 * 1024;

/** Milliseconds until an attempt to connect counts as failed. */
const OPEN_TIMEOUT = 5_000;

/** Milliseconds before the second attempt, doubled for each one after it up to the most. */
const FIRST_RETRY = 200;
const MAX_RETRY = 3_000;

/** Attempts in a row after which the link is given up. */
export const MAX_ATTEMPTS = 5;

/** Milliseconds after which a link that broke counts as one that had worked. */
const STABLE_AFTER = 10_000;

/** Milliseconds between pings; a link that answers none in that time is dead. */
const PING_INTERVAL = 15_000;

/** Refusals that another attempt may overcome: too slow, too early, too many. */
const PASSING_REFUSALS: ReadonlySet<number> = new Set([408, 425, 429]);
const POLICY_VIOLATION = 1008;

export interface LinkOptions {
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
}

export interface LinkEvents {
  opened(): void;
  message(text: string): void;
  /** It broke, and is tried again. */
  lost(reason: string): void;
  /** It is given up; nothing follows. */
  failed(reason: string): void;
}

export class BackendLink {
  /** Messages that found no open link, or one that is too slow. */
  unsent = 0;
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #closed = false;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** False when it is not open, or too much waits to be sent. */
  send(text: string): boolean {
    const socket = this.#socket;
    if (!socket || !this.isOpen || socket.bufferedAmount > MAX_UNSENT) {
      this.unsent++;
      return false;
    }
    socket.send(text);
    return true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    this.#attempts++;
    const { url, apiKey } = this.#options;
    const socket = new WebSocket(url, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      handshakeTimeout: OPEN_TIMEOUT,
      maxPayload: MAX_EVENT_BYTES,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    let openedAt = Infinity;
    let isAlive = true;
    let problem: string | undefined;
    let isFinal = false;
    const pings = setInterval(() => {
      if (!isAlive) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
      isAlive = false;
    }, PING_INTERVAL);
    socket.on('open', () => {
      openedAt = performance.now();
      isAlive = true;
      if (!this.#closed) this.#events.opened();
    });
    socket.on('pong', () => (isAlive = true));
    socket.on('message', (data, isBinary) => {
      isAlive = true;
      if (!isBinary && !this.#closed) this.#events.message(textOf(data));
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      problem = `it answered ${statusCode}`;
      isFinal = statusCode >= 400 && statusCode < 500 && !PASSING_REFUSALS.has(statusCode);
      socket.terminate();
    });
    socket.on('error', ({ message }) => (problem ??= message));
    socket.on('close', (code, reason) => {
      clearInterval(pings);
      if (performance.now() - openedAt >= STABLE_AFTER) this.#attempts = 0;
      const why = problem ?? `it closed with ${code} ${reason.toString()}`.trim();
      this.#onClose(why, isFinal || code === POLICY_VIOLATION);
    });
  }

  #onClose(reason: string, isFinal: boolean): void {
    this.#socket = undefined;
    if (this.#closed) return;
    if (isFinal || this.#attempts >= MAX_ATTEMPTS) {
      this.#closed = true;
      this.#events.failed(reason);
      return;
    }
    const wait = Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.max(0, this.#attempts - 1));
    this.#timer = setTimeout(() => this.#connect(), wait * (0.5 + Math.random() / 2));
    this.#events.lost(reason);
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString();
}
