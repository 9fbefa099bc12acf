/** A transceiver: the only owner of its sessions, all of them behind one UDP socket on the trunk. */
import type { Logger } from 'pino';
import type { Backend } from '../backend/backend.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { callsByTenant, type TransceiverReport } from '../../protocol/roster.ts';
import { createCertificate, type Certificate } from './certificate.ts';
import { DtlsContext } from './dtls-context.ts';
import { Drain, type DrainEnd } from './drain.ts';
import type { EndReason } from './end-reason.ts';
import { parseOffer, type Offer } from './offer.ts';
import type { SessionDump } from './session-dump.ts';
import { DEFAULT_LIMITS, type SessionLimits } from './session-limits.ts';
import { Session } from './session.ts';
import type { SessionRequest } from './session-request.ts';
import type { Stage } from './session-stages.ts';
import { TransceiverCounts, type Refusal, type TransceiverCounters } from './transceiver-counts.ts';
import { TrunkSocket, type TrunkCounters } from './trunk-socket.ts';

/** Milliseconds between two looks at the deadlines of all sessions. */
const TICK = 500;

export interface TransceiverOptions {
  /** Its id within the cluster, 0 to 65535. */
  readonly id: number;
  /** Where it listens; port 0 takes a free one. */
  readonly trunk: TrunkAddress;
  /** CIDRs whose trunk frames are taken. */
  readonly peers: readonly string[];
  /** Most sessions at a time. */
  readonly capacity: number;
  readonly limits?: Partial<SessionLimits>;
  readonly backend: Backend;
  readonly log: Logger;
  readonly observer?: TransceiverObserver | undefined;
}

/** Is told of what only a distribution describes. */
export interface TransceiverObserver {
  /** A session reached a stage of its setup; `answer` is making the answer itself. */
  stage(stage: Stage | 'answer', seconds: number): void;
  /** @param last The session as it was before its end. */
  ended(reason: EndReason, last: SessionDump): void;
}

/** The transceiver holds as many sessions as it can. */
export class CapacityError extends Error {
  override readonly name = 'CapacityError';
}

/** The session cannot be made because of one that is there already. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

export interface TransceiverDump {
  readonly id: number;
  readonly trunk: TrunkAddress;
  readonly draining: boolean;
  readonly counters: TrunkCounters;
  readonly sessions: readonly SessionDump[];
}

let processCertificate: Promise<Certificate> | undefined;

/** @throws Error when the address is taken or this Node cannot do DTLS. */
export async function startTransceiver(options: TransceiverOptions): Promise<Transceiver> {
  processCertificate ??= createCertificate();
  const certificate = await processCertificate;
  const dtls = new DtlsContext(certificate);
  try {
    const socket = await TrunkSocket.open(options.trunk, options.peers, options.log);
    return new Transceiver(options, socket, dtls, certificate.fingerprint);
  } catch (error) {
    dtls.close();
    throw error;
  }
}

export class Transceiver {
  readonly id: number;
  /** Where it listens. */
  readonly trunk: TrunkAddress;
  readonly #options: TransceiverOptions;
  readonly #socket: TrunkSocket;
  readonly #dtls: DtlsContext;
  readonly #fingerprint: string;
  readonly #sessions = new Map<string, Session>();
  readonly #ticker: NodeJS.Timeout;
  readonly #counts = new TransceiverCounts();
  readonly #limits: SessionLimits;
  #drain: Drain | undefined;
  #closed = false;

  constructor(
    options: TransceiverOptions,
    socket: TrunkSocket,
    dtls: DtlsContext,
    fingerprint: string,
  ) {
    this.id = options.id;
    this.trunk = socket.address;
    this.#options = options;
    this.#socket = socket;
    this.#dtls = dtls;
    this.#fingerprint = fingerprint;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#ticker = setInterval(() => this.#tick(), TICK);
  }

  report(): TransceiverReport {
    const calls = callsByTenant([...this.#sessions.values()].map(({ tenant }) => tenant));
    return {
      transceiver: this.id,
      sessions: this.#sessions.size,
      capacity: this.#options.capacity,
      draining: this.#refusesNew,
      ...(calls && { calls }),
    };
  }

  /** What it holds for sessions: nothing once they have ended. */
  get held(): { readonly sessions: number; readonly ufrags: number; readonly paths: number } {
    return { sessions: this.#sessions.size, ...this.#socket.held };
  }

  counters(): TransceiverCounters {
    return this.#counts.read([...this.#sessions.values()].map((it) => it.dump()));
  }

  /**
   * Answers an offer. The client's packets may come from now on.
   *
   * @throws OfferError, CapacityError, ConflictError
   */
  create(request: SessionRequest, offer: string): { answer: string; etag: string } {
    const started = performance.now();
    const parsed = this.#parse(offer);
    this.#admit(request);
    const { backend, log, observer } = this.#options;
    const session = new Session({
      request,
      offer: parsed,
      socket: this.#socket,
      dtls: this.#dtls,
      fingerprint: this.#fingerprint,
      backend,
      limits: this.#limits,
      log: log.child({ call: request.call }),
      onStage: (stage, milliseconds) => observer?.stage(stage, milliseconds / 1000),
      onEnd: (ended, reason, last) => this.#onEnd(ended, reason, last),
    });
    this.#sessions.set(request.call, session);
    this.#counts.created();
    observer?.stage('answer', (performance.now() - started) / 1000);
    return { answer: session.answer, etag: session.etag };
  }

  trunkCounters(): TrunkCounters {
    const { drops, ...counters } = this.#socket.counters;
    return { ...counters, drops: { ...drops } };
  }

  /** The session of a call, when it is that tenant's. */
  find(call: string, tenant: string): Session | undefined {
    const session = this.#sessions.get(call);
    return session?.tenant === tenant ? session : undefined;
  }

  /** @throws ConflictError when a session answers to that ufrag already. */
  requireFree(ufrag: string): void {
    if (this.#socket.hasUfrag(ufrag)) throw new ConflictError('A session has that ufrag already.');
  }

  /** Ends a call. False when the tenant has no such call here. */
  end(call: string, tenant: string): boolean {
    const session = this.find(call, tenant);
    if (!session) return false;
    session.end('deleted');
    return true;
  }

  /** What it does now, as plain data; of one call when it is named. */
  dump(call?: string): TransceiverDump {
    const sessions = [...this.#sessions.values()].filter((it) => !call || it.call === call);
    return {
      id: this.id,
      trunk: this.trunk,
      draining: this.#refusesNew,
      counters: this.trunkCounters(),
      sessions: sessions.map((it) => it.dump()),
    };
  }

  /**
   * Takes no new session, tells clients, and settles once no session is left: those that are there when
   * the time is up are ended then.
   *
   * @param time Milliseconds.
   * @param atOnce Ends the drain, and with it no session: that is close()'s.
   */
  async drain(time: number, atOnce: AbortSignal): Promise<DrainEnd> {
    const drain = (this.#drain ??= new Drain(time, atOnce));
    if (this.#sessions.size === 0) drain.emptied();
    this.#tellDraining(drain);
    const end = await drain.over;
    if (end === 'time is up') {
      for (const session of this.#sessions.values()) session.end('drain-deadline');
    }
    return end;
  }

  /** Ends all calls and frees everything. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#ticker);
    for (const session of this.#sessions.values()) session.end('stopped');
    this.#dtls.close();
    await this.#socket.close();
  }

  get #refusesNew(): boolean {
    return this.#closed || this.#drain !== undefined;
  }

  #parse(offer: string): Offer {
    try {
      return parseOffer(offer);
    } catch (error) {
      this.#counts.refused('offer');
      throw error;
    }
  }

  #admit({ call, ufrag }: SessionRequest): void {
    const refuse = (why: Refusal, error: Error): never => {
      this.#counts.refused(why);
      throw error;
    };
    if (this.#refusesNew) {
      refuse('draining', new CapacityError(`Transceiver ${this.id} takes no new sessions.`));
    }
    if (this.#sessions.size >= this.#options.capacity) {
      const error = new CapacityError(`Transceiver ${this.id} holds all the sessions it can.`);
      refuse('capacity', error);
    }
    if (this.#sessions.has(call) || this.#socket.hasUfrag(ufrag)) {
      const error = new ConflictError('There is a session of that call or ufrag already.');
      refuse('conflict', error);
    }
  }

  #tick(): void {
    for (const session of this.#sessions.values()) session.tick();
    if (this.#drain) this.#tellDraining(this.#drain);
  }

  #tellDraining(drain: Drain): void {
    for (const session of this.#sessions.values()) session.tellDraining(drain);
  }

  #onEnd(session: Session, reason: EndReason, last: SessionDump): void {
    this.#sessions.delete(session.call);
    this.#counts.ended(reason, last);
    this.#options.observer?.ended(reason, last);
    if (this.#sessions.size === 0) this.#drain?.emptied();
  }
}
