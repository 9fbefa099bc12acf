/** A transceiver: the only owner of its sessions, all of them behind one UDP socket on the trunk. */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Backend } from '../backend/backend.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { TransceiverReport } from '../../protocol/roster.ts';
import { createCertificate, type Certificate } from './certificate.ts';
import { DtlsContext } from './dtls-context.ts';
import { parseOffer } from './offer.ts';
import type { SessionDump } from './session-dump.ts';
import { DEFAULT_LIMITS, type SessionLimits } from './session-limits.ts';
import { Session, type SessionRequest } from './session.ts';
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
    this.#ticker = setInterval(() => {
      for (const session of this.#sessions.values()) session.tick();
    }, TICK);
  }

  report(): TransceiverReport {
    return {
      transceiver: this.id,
      sessions: this.#sessions.size,
      capacity: this.#options.capacity,
      draining: this.#closed,
    };
  }

  /**
   * Answers an offer. The client's packets may come from now on.
   *
   * @throws OfferError, CapacityError, ConflictError
   */
  create(request: SessionRequest, offer: string): { answer: string; etag: string } {
    const parsed = parseOffer(offer);
    if (this.#closed || this.#sessions.size >= this.#options.capacity) {
      throw new CapacityError(`Transceiver ${this.id} holds all the sessions it can.`);
    }
    if (this.#sessions.has(request.call) || this.#socket.hasUfrag(request.ufrag)) {
      throw new ConflictError('There is a session of that call or ufrag already.');
    }
    const { backend, log } = this.#options;
    const session = new Session({
      request,
      offer: parsed,
      socket: this.#socket,
      dtls: this.#dtls,
      fingerprint: this.#fingerprint,
      backend,
      limits: { ...DEFAULT_LIMITS, ...this.#options.limits },
      log: log.child({ call: request.call }),
      onStage: () => undefined,
      onEnd: (ended) => this.#sessions.delete(ended.call),
    });
    this.#sessions.set(request.call, session);
    const digest = createHash('sha256').update(session.answer).digest('base64url');
    return { answer: session.answer, etag: `"${digest.slice(0, 22)}"` };
  }

  /** Ends a call. False when the tenant has no such call here. */
  end(call: string, tenant: string): boolean {
    const session = this.#sessions.get(call);
    if (session?.tenant !== tenant) return false;
    session.end('deleted');
    return true;
  }

  /** What it does now, as plain data; of one call when it is named. */
  dump(call?: string): TransceiverDump {
    const sessions = [...this.#sessions.values()].filter((it) => !call || it.call === call);
    const { drops, ...counters } = this.#socket.counters;
    return {
      id: this.id,
      trunk: this.trunk,
      counters: { ...counters, drops: { ...drops } },
      sessions: sessions.map((it) => it.dump()),
    };
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
}
