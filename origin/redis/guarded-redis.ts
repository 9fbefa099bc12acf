/**
 * A Redis that may be down, slow or wrong at any time without anybody waiting for it: requests have a
 * short deadline, fail quietly, and are not even sent while there is little hope.
 */
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { CircuitBreaker } from './circuit-breaker.ts';
import { requireStrictReplies } from './strict-replies.ts';

/** Milliseconds a request may take: what it is for is settled otherwise soon after. */
export const REQUEST_DEADLINE = 100;

/** Milliseconds before the first attempt to connect anew; doubles with every failure. */
const FIRST_BACKOFF = 50;

/** Milliseconds between attempts at most, so that a Redis that comes back is found soon. */
const LAST_BACKOFF = 1_000;

const CONNECT_TIMEOUT = 1_000;

/** Milliseconds of silence with requests under way after which a connection counts as dead. */
const SILENCE_TIMEOUT = 1_000;

/** Milliseconds a connection that is given up may take to close. */
const DISCONNECT_TIMEOUT = 100;

/** `away` without a connection; else the circuit breaker's. */
export const REDIS_STATES = ['away', 'closed', 'half-open', 'open'] as const;
export type RedisState = (typeof REDIS_STATES)[number];

/** Plain JSON. */
export interface RedisCounters {
  readonly state: RedisState;
  /** Requests that were answered in time. */
  readonly answered: number;
  readonly timeouts: number;
  readonly errors: number;
  /** Requests not sent, since there was no connection or the circuit was open. */
  readonly shed: number;
}

export interface GuardedRedisOptions {
  /** `redis://` or `rediss://`, with user and password if need be. */
  readonly url: string;
  readonly log: Logger;
  /** Milliseconds; {@link REQUEST_DEADLINE} unless told otherwise. */
  readonly deadline?: number;
}

/** What {@link GuardedRedis.run} gives when there is no answer. */
export const NO_ANSWER = Symbol('no answer');

const LATE = Symbol('late');

requireStrictReplies();

export class GuardedRedis {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #deadline: number;
  readonly #breaker = new CircuitBreaker();
  readonly #readyListeners = new Set<() => void>();
  #answered = 0;
  #timeouts = 0;
  #errors = 0;
  #shed = 0;
  #warned = false;

  /** Connects by itself, and again whenever the connection is lost. */
  constructor({ url, log, deadline = REQUEST_DEADLINE }: GuardedRedisOptions) {
    this.#log = log;
    this.#deadline = deadline;
    this.#redis = new Redis(url, {
      protocol: 2,
      disableClientInfo: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      connectTimeout: CONNECT_TIMEOUT,
      socketTimeout: SILENCE_TIMEOUT,
      disconnectTimeout: DISCONNECT_TIMEOUT,
      retryStrategy: backoff,
    });
    this.#redis.on('error', (error) => this.#warn(error.message));
    this.#redis.on('close', () => this.#warn('the connection was closed'));
    this.#redis.on('ready', () => this.#becameReady());
  }

  /** Whether a request would be sent now. */
  get ready(): boolean {
    return this.#redis.status === 'ready' && this.#breaker.state(performance.now()) !== 'open';
  }

  /**
   * @param listener Called whenever a connection has been made.
   * @returns Ends that.
   */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  /** Never rejects. @param request Is not called while there is little hope for an answer. */
  async run<T>(request: (redis: Redis) => Promise<T>): Promise<T | typeof NO_ANSWER> {
    if (this.#redis.status !== 'ready' || !this.#breaker.admit(performance.now())) {
      this.#shed++;
      return NO_ANSWER;
    }
    const late = startDeadline(this.#deadline);
    try {
      const answer = await Promise.race([request(this.#redis), late.passed]);
      if (answer === LATE) {
        this.#timeouts++;
        this.#failed('no answer in time', true);
        return NO_ANSWER;
      }
      this.#answered++;
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      this.#errors++;
      this.#failed(error instanceof Error ? error.message : String(error), false);
      return NO_ANSWER;
    } finally {
      late.cancel();
    }
  }

  counters(): RedisCounters {
    const isAway = this.#redis.status !== 'ready';
    return {
      state: isAway ? 'away' : this.#breaker.state(performance.now()),
      answered: this.#answered,
      timeouts: this.#timeouts,
      errors: this.#errors,
      shed: this.#shed,
    };
  }

  close(): void {
    this.#warned = true;
    this.#redis.disconnect();
  }

  #failed(reason: string, late: boolean): void {
    if (!this.#breaker.failed(performance.now())) return;
    this.#warn(reason);
    // A new connection owes no answers, and takes the place of one that died without a word.
    if (late) this.#redis.disconnect(true);
  }

  #becameReady(): void {
    this.#breaker.retry();
    if (this.#warned) this.#log.info('Redis is back');
    this.#warned = false;
    for (const listener of this.#readyListeners) listener();
  }

  #warn(reason: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      { reason },
      'Redis does not answer: flows heal by clients’ checks meanwhile; see that it runs, REDIS_URL is right and it has memory left; trying on',
    );
  }
}

function backoff(attempt: number): number {
  const longest = Math.min(LAST_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1));
  // Half of it at random, so that a fleet that lost its Redis does not come back as one.
  return longest * (0.5 + Math.random() / 2);
}

function startDeadline(milliseconds: number) {
  const { promise: passed, resolve } = Promise.withResolvers<typeof LATE>();
  let grace: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // When this thread was late itself, the answer waits to be read: that comes before this.
    grace = setImmediate(() => resolve(LATE));
  }, milliseconds);
  return {
    passed,
    cancel: () => {
      clearTimeout(timer);
      clearImmediate(grace);
    },
  };
}
