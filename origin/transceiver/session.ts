/** One call: ICE, then DTLS, then audio and data between the client and a back end, until it ends. */
import type { Logger } from 'pino';
import type { Backend, Call } from '../backend/backend.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { RelayAddress } from '../../protocol/signature.ts';
import { writeAnswer } from './answer.ts';
import type { DtlsContext } from './dtls-context.ts';
import { DtlsEndpoint, type SrtpKeys } from './dtls.ts';
import type { Drain } from './drain.ts';
import type { EndReason } from './end-reason.ts';
import type { IceCredentials } from './ice-credentials.ts';
import { IceLite } from './ice-lite.ts';
import type { Offer } from './offer.ts';
import { DataChannels } from './sctp.ts';
import { writeFragment } from './sdp-fragment.ts';
import { SessionBackend } from './session-backend.ts';
import type { SessionDump, SessionState } from './session-dump.ts';
import { passedLimit, type SessionLimits } from './session-limits.ts';
import { SessionMedia } from './session-media.ts';
import type { SessionRequest } from './session-request.ts';
import { SessionStages, type Stage } from './session-stages.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';

/** The data channel that carries the session's own events, beside those of the back end. */
const EVENTS_LABEL = 'oai-events';

export interface SessionParts {
  readonly request: SessionRequest;
  readonly offer: Offer;
  readonly socket: TrunkSocket;
  readonly dtls: DtlsContext;
  /** SHA-256 of the certificate of `dtls`. */
  readonly fingerprint: string;
  readonly backend: Backend;
  readonly limits: SessionLimits;
  /** Names the call on every line. */
  readonly log: Logger;
  /** Called for each stage when it is reached. */
  onStage(stage: Stage, milliseconds: number): void;
  /**
   * Called once, when the session has ended and holds nothing any more.
   *
   * @param last What it was before its end.
   */
  onEnd(session: Session, reason: EndReason, last: SessionDump): void;
}

export class Session implements PathOwner {
  readonly answer: string;
  readonly #parts: SessionParts;
  readonly #stages: SessionStages;
  readonly #ice: IceLite;
  readonly #dtls: DtlsEndpoint;
  readonly #media: SessionMedia;
  #state: SessionState = 'checking';
  #dtlsIn = 0;
  /** How the packet came that is being handled. */
  #arriving: { readonly path: Path; readonly source: TrunkAddress } | undefined;
  #data: DataChannels | undefined;
  #backend: SessionBackend | undefined;
  /** What went either way when that was last looked at, and when it had last changed. */
  #activity = 0;
  #activeAt = performance.now();
  #toldDraining = false;

  constructor(parts: SessionParts) {
    const { request, offer, socket } = parts;
    this.#parts = parts;
    this.#stages = new SessionStages((stage, milliseconds) => parts.onStage(stage, milliseconds));
    const reached = (stage: Stage) => this.#stages.reach(stage);
    this.#media = new SessionMedia(offer.audio, {
      send: (packet) => this.#ice.send(packet),
      proven: () => this.#onProven(),
      audio: (packet) => this.#backend?.audio(packet),
      reached,
    });
    this.#dtls = new DtlsEndpoint(parts.dtls, offer.role, offer.fingerprints, {
      send: (datagram) => this.#ice.send(datagram),
      connected: (keys) => this.#onSecured(keys),
      data: (packet) => {
        this.#onProven();
        this.#data?.receive(packet);
      },
      closed: (reason, detail) => this.end(reason, detail),
    });
    this.#ice = new IceLite(request.ufrag, offer.ice, socket, this, () => this.#onFirstPath());
    this.answer = writeAnswer(offer, {
      ...this.#ice.own,
      fingerprint: parts.fingerprint,
      relays: request.relays,
      ...this.#media.source,
    });
  }

  get call(): string {
    return this.#parts.request.call;
  }

  get tenant(): string {
    return this.#parts.request.tenant;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** What each side is to check with now. */
  get ice(): { readonly own: IceCredentials; readonly client: IceCredentials } {
    return this.#ice;
  }

  /** Names the present generation of ICE, for If-Match (RFC 9725 §4.3.1). */
  get etag(): string {
    return `"${this.#ice.own.ufrag}"`;
  }

  /** Restarts ICE; all else goes on as it was. Gives what the client needs of it, as a fragment of SDP. */
  restart(ufrag: string, client: IceCredentials, relays: readonly RelayAddress[]): string {
    this.#ice.restart(ufrag, client);
    const transport = this.#parts.offer.media.find((it) => it.audio ?? it.data)!;
    return writeFragment(this.#ice.own, transport, relays);
  }

  onCheck(packet: Buffer, path: Path, ufrag: string): void {
    this.#ice.onCheck(packet, path, ufrag);
  }

  onAnswer(packet: Buffer, path: Path): void {
    this.#ice.onAnswer(packet, path);
  }

  defends(path: Path): boolean {
    return this.#ice.defends(path);
  }

  onPacket(packet: Buffer, path: Path, source: TrunkAddress): void {
    this.#arriving = { path, source };
    if (packet[0]! >= 128) {
      this.#media.receive(packet);
      return;
    }
    this.#dtlsIn++;
    this.#dtls.receive(packet);
  }

  /**
   * Ends what has passed a limit, reports on the audio sent, and keeps spare paths. To be called about
   * every second.
   */
  tick(): void {
    const limit = passedLimit(
      {
        connected: this.#state === 'connected',
        age: this.#stages.age,
        quiet: this.#quiet(),
        expiresAt: this.#parts.request.expiresAt,
        hasConsent: this.#ice.hasConsent(),
      },
      this.#parts.limits,
    );
    if (limit) {
      this.end(limit);
      return;
    }
    if (this.#state !== 'connected') return;
    this.#ice.keepSpares();
    this.#media.tick();
  }

  /** Tells the client that the call must end soon: once, and as soon as it has a channel for events. */
  tellDraining(drain: Drain): void {
    if (this.#toldDraining || !this.#data?.has(EVENTS_LABEL)) return;
    this.#toldDraining = true;
    this.#data.send(EVENTS_LABEL, JSON.stringify(drain.event));
  }

  /**
   * Says goodbye to the client where there is one, and frees everything.
   *
   * @param detail What the reason alone does not tell, for the log.
   */
  end(reason: EndReason, detail?: string): void {
    if (this.#state === 'ended') return;
    const last = this.dump();
    const { call: _, age: duration, ...rest } = last;
    this.#parts.log.info({ reason, detail, duration, ...rest }, 'session ended');
    this.#state = 'ended';
    this.#data?.close();
    this.#media.close();
    this.#dtls.close();
    this.#ice.close();
    this.#backend?.close();
    this.#parts.onEnd(this, reason, last);
  }

  dump(): SessionDump {
    return {
      call: this.call,
      tenant: this.tenant,
      state: this.#state,
      age: this.#stages.age,
      codec: this.#parts.offer.audio?.codec,
      client: this.#ice.selected?.client,
      relay: this.#ice.selected?.source,
      timings: this.#stages.timings,
      quality: this.#media.quality,
      counters: {
        ...this.#media.counters,
        dtlsIn: this.#dtlsIn,
        dtlsDrops: { ...this.#dtls.drops },
        ice: { ...this.#ice.counters },
        data: this.#data && { ...this.#data.counters },
      },
    };
  }

  /** Milliseconds since audio or data last went either way, as well as ticks can tell. */
  #quiet(): number {
    const { rtpIn, rtpOut } = this.#media.counters;
    const { messagesIn = 0, messagesOut = 0 } = this.#data?.counters ?? {};
    const activity = rtpIn + rtpOut + messagesIn + messagesOut;
    const now = performance.now();
    if (activity !== this.#activity) {
      this.#activity = activity;
      this.#activeAt = now;
    }
    return now - this.#activeAt;
  }

  /** What arrives is authentic, so the client is where it came from. */
  #onProven(): void {
    if (this.#arriving) this.#ice.onProvenPacket(this.#arriving.path, this.#arriving.source);
  }

  #onFirstPath(): void {
    this.#stages.reach('firstStun');
    this.#stages.reach('ice');
    this.#state = 'securing';
    this.#dtls.start();
  }

  #onSecured(keys: SrtpKeys | undefined): void {
    this.#stages.reach('dtls');
    this.#ice.onSecured();
    const { offer } = this.#parts;
    if (offer.audio && !keys) {
      this.end('no-srtp', 'the client took none of our SRTP profiles');
      return;
    }
    if (keys) this.#media.secure(keys);
    if (offer.data) {
      this.#data = new DataChannels(offer.data, {
        send: (packet) => this.#dtls.send(packet),
        established: () => this.#stages.reach('sctp'),
        opened: (label) => this.#backend?.opened(label),
        message: (label, data) => this.#backend?.data(label, data),
        abused: (what) => this.end('abuse', `the client does not keep to SCTP: ${what}`),
      });
    }
    this.#state = 'connected';
    this.#activeAt = performance.now();
    this.#openBackend();
  }

  #openBackend(): void {
    const { backend, log, offer, request } = this.#parts;
    const failed = (what: string) => this.end('backend-failed', what);
    const call: Call = {
      id: this.call,
      tenant: this.tenant,
      codec: offer.audio?.codec,
      session: request.session,
      sendAudio: (packet) => {
        if (this.#state !== 'connected') return;
        this.#stages.reach('firstBackendAudio');
        this.#media.send(packet);
      },
      sendData: (label, data) => {
        if (this.#state === 'connected') this.#data?.send(label, data);
      },
      fail: failed,
    };
    const opened = new SessionBackend({ backend, call, log, failed });
    if (this.#state === 'connected') this.#backend = opened;
    else opened.close();
  }
}
