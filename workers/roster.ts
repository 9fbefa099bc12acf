/** A cluster's roster: which of its transceivers live and what they can take. One object per cluster. */
import { DurableObject } from 'cloudflare:workers';
import * as v from 'valibot';
import {
  ROSTER_CHANGE,
  ROSTER_DEAD,
  ROSTER_HEARTBEAT,
  TransceiverReportSchema,
  type RosterEntry,
  type TransceiverReport,
} from '../protocol/roster.ts';
import { SignatureVerifier } from '../protocol/signature.ts';
import { verifyJoin } from './join.ts';
import { edgeKeys } from './keys.ts';
import { RosterCalls } from './roster-calls.ts';
import { RosterStorage, SAVE_EVERY } from './roster-storage.ts';

/** Characters of the longest report: one of as many tenants as it can tell of has about 12,000. */
export const MAX_REPORT_LENGTH = 16 * 1024;

/**
 * Reports that a link may send in {@link ROSTER_DEAD}: thrice those of its heartbeat, of what changes all the
 * time, and the one it begins with, for some may arrive together.
 */
export const MAX_REPORTS = 3 * (ROSTER_DEAD / ROSTER_HEARTBEAT + ROSTER_DEAD / ROSTER_CHANGE + 1);

/** WebSocket close codes (RFC 6455 §7.4). */
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;
const REPLACED = 4000;

/** What survives hibernation, with the socket it belongs to. */
interface Attachment {
  readonly transceiver: number;
  readonly entry?: RosterEntry;
  /** Milliseconds since the Unix epoch, when the entry was last written to storage. */
  readonly savedAt?: number;
  readonly window: ReportWindow;
}

/** Reports counted since a moment, in milliseconds since the Unix epoch. */
interface ReportWindow {
  readonly since: number;
  readonly reports: number;
}

/**
 * State is the open sockets and what is attached to them. An eviction or a deployment cuts the sockets; until
 * the transceivers are back, those that were there lately are believed to live, so that calls go on.
 */
export class Roster extends DurableObject<Env> {
  readonly #storage: RosterStorage;
  readonly #startedAt = Date.now();
  /** Who was there before a restart cut all sockets. */
  readonly #before: readonly TransceiverReport[];
  /** Who came back and left since. */
  readonly #left = new Set<number>();
  readonly #calls: RosterCalls;
  #verifier: SignatureVerifier | undefined;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    // Answered without waking the object; the transceiver learns from it that its link is whole.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'));
    this.#storage = new RosterStorage(context.storage.sql);
    const isRestart = context.getWebSockets().length === 0;
    this.#before = isRestart ? this.#storage.members(this.#startedAt) : [];
    this.#calls = new RosterCalls(this.#before, this.#startedAt);
  }

  /** A transceiver joins: a WebSocket upgrade with a signed token that names it. */
  override async fetch(request: Request): Promise<Response> {
    this.#verifier ??= new SignatureVerifier(edgeKeys(this.env).signingKeys, this.#cluster());
    const transceiver = await verifyJoin(request, this.#verifier, (jti) =>
      this.#storage.spend(jti, Date.now()),
    );
    if (transceiver instanceof Response) return transceiver;
    const { 0: client, 1: server } = new WebSocketPair();
    const tag = String(transceiver);
    for (const old of this.ctx.getWebSockets(tag)) old.close(REPLACED, 'joined again');
    this.ctx.acceptWebSocket(server, [tag]);
    this.#calls.join(transceiver);
    const window = { since: Date.now(), reports: 0 };
    server.serializeAttachment({ transceiver, window } satisfies Attachment);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    const { transceiver, entry: before, savedAt = 0, window: last } = attachmentOf(socket);
    const now = Date.now();
    const window = countReport(last, now);
    const report = readReport(message);
    if (!report) {
      this.#refuse(socket, 'that is no report');
    } else if (report.transceiver !== transceiver) {
      this.#refuse(socket, `joined as ${transceiver}`);
    } else if (window.reports > MAX_REPORTS) {
      this.#refuse(socket, `report every ${ROSTER_HEARTBEAT} ms`);
    } else {
      this.#calls.report(report);
      const { calls: _, ...kept } = report;
      const entry = seen(kept, now);
      const isDue = now - savedAt >= SAVE_EVERY || before?.draining !== report.draining;
      if (isDue) this.#storage.save(kept, now);
      const saved = isDue ? now : savedAt;
      const attachment: Attachment = { transceiver, entry, savedAt: saved, window };
      socket.serializeAttachment(attachment);
    }
  }

  /** Answers the close of a transceiver that leaves, which would wait for it otherwise. */
  override webSocketClose(
    socket: WebSocket,
    code: number,
    _reason: string,
    wasClean: boolean,
  ): void {
    const { transceiver } = attachmentOf(socket);
    this.#left.add(transceiver);
    const others = this.ctx.getWebSockets(String(transceiver)).filter((other) => other !== socket);
    if (wasClean && others.length === 0) this.#storage.forget(transceiver);
    // Only one that ends says so; any other close cuts the link of one that lives on.
    if (wasClean && code === NORMAL) this.#calls.leave(transceiver);
    else if (others.length === 0) this.#calls.lose(transceiver, Date.now());
    socket.close();
  }

  /** Transceivers that reported lately, in the order of their ids. */
  snapshot(): RosterEntry[] {
    const dead = Date.now() - ROSTER_DEAD;
    const sockets = this.ctx
      .getWebSockets()
      .filter((socket) => socket.readyState === WebSocket.OPEN)
      .map(attachmentOf);
    const reported = sockets
      .map(({ entry }) => entry)
      .filter((entry) => entry !== undefined)
      .filter(({ seenAt }) => seenAt > dead);
    const back = new Set(sockets.filter(({ entry }) => entry).map((it) => it.transceiver));
    const missed = this.#startedAt > dead ? this.#before : [];
    const believed = missed
      .filter(({ transceiver }) => !back.has(transceiver) && !this.#left.has(transceiver))
      .map((report) => seen(report, this.#startedAt));
    return [...reported, ...believed].toSorted((a, b) => a.transceiver - b.transceiver);
  }

  /**
   * How many calls a tenant has in the cluster. Undefined while that is not known: calls are never said to be
   * gone because a link is.
   */
  callsOf(tenant: string): number | undefined {
    const joined = this.ctx
      .getWebSockets()
      .filter((socket) => socket.readyState === WebSocket.OPEN)
      .map(attachmentOf)
      .map(({ transceiver, entry, window }) => ({
        transceiver,
        heardAt: entry?.seenAt ?? window.since,
      }));
    return this.#calls.of(tenant, joined, Date.now());
  }

  #refuse(socket: WebSocket, reason: string): void {
    this.#calls.lose(attachmentOf(socket).transceiver, Date.now());
    socket.close(POLICY_VIOLATION, reason);
  }

  /** The object is named for its cluster. */
  #cluster(): number {
    return Number(this.ctx.id.name);
  }
}

function attachmentOf(socket: WebSocket): Attachment {
  const attachment: Attachment = socket.deserializeAttachment();
  return attachment;
}

function countReport({ since, reports }: ReportWindow, now: number): ReportWindow {
  return now - since < ROSTER_DEAD ? { since, reports: reports + 1 } : { since: now, reports: 1 };
}

function seen(report: Omit<TransceiverReport, 'calls'>, seenAt: number): RosterEntry {
  return { ...report, seenAt };
}

function readReport(message: string | ArrayBuffer): TransceiverReport | undefined {
  if (typeof message !== 'string' || message.length > MAX_REPORT_LENGTH) return undefined;
  try {
    const result = v.safeParse(TransceiverReportSchema, JSON.parse(message));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}
