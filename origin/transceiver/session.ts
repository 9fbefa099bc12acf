/** One call: ICE, then DTLS, then audio and data between the client and a back end, until it ends. */
import type { Logger } from 'pino';
import type { AudioPacket, Backend, BackendSession, Call } from '../backend/backend.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { RelayAddress } from '../../protocol/signature.ts';
import { writeAnswer } from './answer.ts';
import { AudioSender } from './audio.ts';
import type { DtlsContext } from './dtls-context.ts';
import { DtlsEndpoint, type SrtpKeys } from './dtls.ts';
import { guarded } from './guarded.ts';
import { IceLite, newPassword, type IceCounters } from './ice-lite.ts';
import type { Offer } from './offer.ts';
import { DataChannels, type DataCounters } from './sctp.ts';
import { Srtp, isRtcp } from './srtp.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';

/** Milliseconds a client has from its answer to the end of the DTLS handshake. */
export const SETUP_TIMEOUT = 15_000;

/** What the edge asks for, as its signed request says it. */
export interface SessionRequest {
  /** 32 hexadecimal digits, the name of the session. */
  readonly call: string;
  readonly tenant: string;
  readonly ufrag: string;
  /** Milliseconds since the Unix epoch, when the session must end. */
  readonly expiresAt: number;
  /** The candidates of the answer, all of them; the first is the default one. */
  readonly relays: readonly RelayAddress[];
}

export type SessionState = 'checking' | 'securing' | 'connected' | 'ended';

/** Milliseconds from create() to the first time each stage was reached. */
export type StageTimings = Partial<
  Record<'firstStun' | 'ice' | 'dtls' | 'sctp' | 'firstRtpIn' | 'firstRtpOut', number>
>;

export interface SessionCounters {
  rtpIn: number;
  rtpOut: number;
  rtcpIn: number;
  rtcpOut: number;
  /** RTP that was not authentic, came before, or came before the keys. */
  rtpRefused: number;
  /** RTP with a payload type that was not negotiated. */
  rtpUnexpected: number;
  dtlsIn: number;
}

export interface SessionDump {
  readonly call: string;
  readonly tenant: string;
  readonly state: SessionState;
  readonly codec: string | undefined;
  readonly client: TrunkAddress | undefined;
  readonly relay: TrunkAddress | undefined;
  readonly timings: StageTimings;
  readonly counters: SessionCounters & { ice: IceCounters; data: DataCounters | undefined };
}

export interface SessionParts {
  readonly request: SessionRequest;
  readonly offer: Offer;
  readonly socket: TrunkSocket;
  readonly dtls: DtlsContext;
  /** SHA-256 of the certificate of `dtls`. */
  readonly fingerprint: string;
  readonly backend: Backend;
  readonly log: Logger;
  /** Called once, when the session has ended and holds nothing any more. */
  onEnd(session: Session): void;
}

export class Session implements PathOwner {
  readonly answer: string;
  readonly #parts: SessionParts;
  readonly #createdAt = performance.now();
  readonly #timings: StageTimings = {};
  readonly #ice: IceLite;
  readonly #dtls: DtlsEndpoint;
  readonly #audio: AudioSender | undefined;
  readonly #counters: SessionCounters = {
    rtpIn: 0,
    rtpOut: 0,
    rtcpIn: 0,
    rtcpOut: 0,
    rtpRefused: 0,
    rtpUnexpected: 0,
    dtlsIn: 0,
  };
  #state: SessionState = 'checking';
  /** How the DTLS datagram came that is being handled. */
  #arriving: { readonly path: Path; readonly source: TrunkAddress } | undefined;
  #srtp: Srtp | undefined;
  #data: DataChannels | undefined;
  #backend: BackendSession | undefined;

  constructor(parts: SessionParts) {
    const { request, offer, socket } = parts;
    this.#parts = parts;
    const audio = offer.audio;
    this.#audio = audio && new AudioSender(audio.codec, audio.payloadType);
    this.#dtls = new DtlsEndpoint(parts.dtls, offer.role, offer.fingerprints, {
      send: (datagram) => this.#ice.send(datagram),
      connected: (keys) => this.#onSecured(keys),
      data: (packet) => this.#onData(packet),
      closed: (reason) => this.end(reason),
    });
    const password = newPassword();
    this.#ice = new IceLite(request.ufrag, password, socket, this, () => this.#onFirstPath());
    this.answer = writeAnswer(offer, {
      ufrag: request.ufrag,
      password,
      fingerprint: parts.fingerprint,
      relays: request.relays,
      ssrc: this.#audio?.ssrc ?? 0,
      cname: this.#audio?.cname ?? '',
    });
  }

  get call(): string {
    return this.#parts.request.call;
  }

  get tenant(): string {
    return this.#parts.request.tenant;
  }

  onCheck(packet: Buffer, path: Path): void {
    this.#ice.onCheck(packet, path);
  }

  onPacket(packet: Buffer, path: Path, source: TrunkAddress): void {
    if (packet[0]! < 128) {
      this.#counters.dtlsIn++;
      this.#arriving = { path, source };
      this.#dtls.receive(packet);
    } else if (isRtcp(packet)) this.#counters.rtcpIn++;
    else this.#onRtp(packet, path, source);
  }

  /**
   * Ends what has run out of time, reports on the audio sent, and keeps spare paths. To be called about
   * every second.
   */
  tick(): void {
    const age = performance.now() - this.#createdAt;
    if (this.#state !== 'connected' && age > SETUP_TIMEOUT) this.end('setup took too long');
    else if (Date.now() >= this.#parts.request.expiresAt) this.end('the session has expired');
    else if (!this.#ice.hasConsent()) this.end('the client is gone: no checks came');
    else if (this.#state === 'connected') {
      this.#ice.keepSpares();
      if (!this.#srtp) return;
      const report = this.#audio?.report(this.#srtp);
      if (!report) return;
      this.#ice.send(report);
      this.#counters.rtcpOut++;
    }
  }

  /** Says goodbye to the client where there is one, and frees everything. */
  end(reason: string): void {
    if (this.#state === 'ended') return;
    const duration = performance.now() - this.#createdAt;
    this.#parts.log.info({ reason, duration, ...this.dump() }, 'session ended');
    this.#state = 'ended';
    this.#data?.close();
    this.#dtls.close();
    this.#ice.close();
    guarded(
      () => this.#backend?.close(),
      (error) => {
        this.#parts.log.error({ err: error }, 'the back end failed at the end of a call');
      },
    );
    this.#parts.onEnd(this);
  }

  dump(): SessionDump {
    return {
      call: this.call,
      tenant: this.tenant,
      state: this.#state,
      codec: this.#parts.offer.audio?.codec,
      client: this.#ice.selected?.client,
      relay: this.#ice.selected?.source,
      timings: { ...this.#timings },
      counters: {
        ...this.#counters,
        ice: { ...this.#ice.counters },
        data: this.#data && { ...this.#data.counters },
      },
    };
  }

  #onFirstPath(): void {
    this.#reach('firstStun');
    this.#reach('ice');
    this.#state = 'securing';
    this.#dtls.start();
  }

  #onSecured(keys: SrtpKeys | undefined): void {
    this.#reach('dtls');
    const { offer, backend } = this.#parts;
    if (offer.audio && !keys) {
      this.end('the client took none of our SRTP profiles');
      return;
    }
    if (keys) this.#srtp = new Srtp(keys);
    if (offer.data) {
      this.#data = new DataChannels(offer.data, {
        send: (packet) => this.#dtls.send(packet),
        established: () => this.#reach('sctp'),
        message: (label, data) => this.#toBackend((to) => to.data(label, data)),
        abused: (what) => this.end(`the client does not keep to SCTP: ${what}`),
      });
    }
    this.#state = 'connected';
    this.#backend = this.#open(backend);
  }

  #open(backend: Backend): BackendSession | undefined {
    const call: Call = {
      id: this.call,
      tenant: this.tenant,
      codec: this.#parts.offer.audio?.codec,
      sendAudio: (packet) => this.#sendAudio(packet),
      sendData: (label, data) => {
        if (this.#state === 'connected') this.#data?.send(label, data);
      },
    };
    return guarded(
      () => backend.open(call),
      (error) => {
        this.#parts.log.error({ err: error, backend: backend.name }, 'the back end took no call');
        this.end('the back end took no call');
      },
    );
  }

  #onData(packet: Buffer): void {
    if (this.#arriving) this.#ice.onProvenPacket(this.#arriving.path, this.#arriving.source);
    this.#data?.receive(packet);
  }

  #onRtp(packet: Buffer, path: Path, source: TrunkAddress): void {
    const rtp = this.#srtp?.unprotect(packet);
    if (!rtp) {
      this.#counters.rtpRefused++;
      return;
    }
    if (rtp.newest) this.#ice.onProvenPacket(path, source);
    if (rtp.payloadType !== this.#parts.offer.audio?.payloadType) {
      this.#counters.rtpUnexpected++;
      return;
    }
    this.#counters.rtpIn++;
    this.#reach('firstRtpIn');
    // Padding alone probes bandwidth and carries no sound.
    if (rtp.payload.length > 0) this.#toBackend((to) => to.audio(rtp));
  }

  #sendAudio(packet: AudioPacket): void {
    const direction = this.#parts.offer.audio?.direction;
    if (this.#state !== 'connected' || !this.#srtp) return;
    if (direction !== 'sendrecv' && direction !== 'sendonly') return;
    const protectedPacket = this.#audio?.packet(packet, this.#srtp);
    if (!protectedPacket) return;
    this.#ice.send(protectedPacket);
    this.#counters.rtpOut++;
    this.#reach('firstRtpOut');
  }

  #toBackend(give: (to: BackendSession) => void): void {
    const backend = this.#backend;
    if (!backend) return;
    guarded(
      () => give(backend),
      (error) => {
        this.#parts.log.error({ err: error }, 'the back end failed');
        this.end('the back end failed');
      },
    );
  }

  #reach(stage: keyof StageTimings): void {
    this.#timings[stage] ??= Math.round((performance.now() - this.#createdAt) * 10) / 10;
  }
}
