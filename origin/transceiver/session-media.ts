/** The audio of one session: SRTP and SRTCP both ways, from the moment there are keys. */
import type { AudioPacket, ReceivedAudio } from '../backend/backend.ts';
import { AudioSender } from './audio.ts';
import type { SrtpKeys } from './dtls.ts';
import type { OfferedAudio } from './offer.ts';
import { RtcpSession, type RtcpStats } from './rtcp-session.ts';
import type { Stage } from './session-stages.ts';
import { Srtp, isRtcp } from './srtp.ts';

export interface MediaCounters {
  rtpIn: number;
  rtpOut: number;
  rtcpIn: number;
  rtcpOut: number;
  /** RTP that was not authentic, came before, or came before the keys. */
  rtpRefused: number;
  /** RTCP that was not authentic, came before, came before the keys, or is none. */
  rtcpRefused: number;
  /** RTP with a payload type that was not negotiated. */
  rtpUnexpected: number;
}

export interface MediaEvents {
  /** Sends one packet to the client. */
  send(packet: Buffer): void;
  /** The packet being received is authentic and newer than all before it. */
  proven(): void;
  audio(packet: ReceivedAudio): void;
  reached(stage: Stage): void;
}

export class SessionMedia {
  readonly counters: MediaCounters = {
    rtpIn: 0,
    rtpOut: 0,
    rtcpIn: 0,
    rtcpOut: 0,
    rtpRefused: 0,
    rtcpRefused: 0,
    rtpUnexpected: 0,
  };
  readonly #audio: OfferedAudio | undefined;
  readonly #sender: AudioSender | undefined;
  readonly #sends: boolean;
  readonly #events: MediaEvents;
  #srtp: Srtp | undefined;
  #rtcp: RtcpSession | undefined;

  /** @param audio Undefined when the offer has none. */
  constructor(audio: OfferedAudio | undefined, events: MediaEvents) {
    this.#audio = audio;
    this.#sender = audio && new AudioSender(audio.codec, audio.payloadType);
    this.#sends = audio?.direction === 'sendrecv' || audio?.direction === 'sendonly';
    this.#events = events;
  }

  /** Of the stream that is sent, for the answer. */
  get source(): { readonly ssrc: number; readonly cname: string } {
    return { ssrc: this.#sender?.ssrc ?? 0, cname: this.#sender?.cname ?? '' };
  }

  /** Round trip, loss and jitter; undefined before there are keys, and without audio. */
  get quality(): RtcpStats | undefined {
    return this.#rtcp?.stats();
  }

  /** Nothing is sent or taken before. Holds native memory until close(). */
  secure(keys: SrtpKeys): void {
    this.#srtp = new Srtp(keys);
    this.#rtcp = this.#sender && new RtcpSession(this.#sender, performance.now());
  }

  /** Takes an RTP or RTCP packet. Total. */
  receive(packet: Buffer): void {
    if (isRtcp(packet)) this.#onRtcp(packet);
    else this.#onRtp(packet);
  }

  /** Sends one frame; nothing when the client wants none. */
  send(packet: AudioPacket): void {
    if (!this.#srtp || !this.#sends) return;
    const protectedPacket = this.#sender?.packet(packet, this.#srtp);
    if (!protectedPacket) return;
    this.#events.send(protectedPacket);
    this.#rtcp?.onSent(this.#sender!.timestamp, packet.payload.length, performance.now());
    this.counters.rtpOut++;
    this.#events.reached('firstRtpOut');
  }

  /** Reports on what was sent and received when that is due. To be called about every second. */
  tick(): void {
    this.#sendRtcp(this.#rtcp?.report(performance.now()));
  }

  /** Says goodbye, and frees the keys; nothing is sent or taken any more. */
  close(): void {
    this.#sendRtcp(this.#rtcp?.bye(performance.now()));
    this.#srtp?.close();
    this.#srtp = undefined;
  }

  #sendRtcp(report: Buffer | undefined): void {
    const packet = report && this.#srtp?.protectRtcp(report);
    if (!packet) return;
    this.#events.send(packet);
    this.counters.rtcpOut++;
  }

  #onRtcp(packet: Buffer): void {
    const reports = this.#srtp?.unprotectRtcp(packet);
    if (reports && this.#rtcp?.receive(reports, performance.now())) this.counters.rtcpIn++;
    else this.counters.rtcpRefused++;
  }

  #onRtp(packet: Buffer): void {
    const rtp = this.#srtp?.unprotect(packet);
    if (!rtp) {
      this.counters.rtpRefused++;
      return;
    }
    this.#rtcp?.onReceived(rtp, performance.now());
    if (rtp.newest) this.#events.proven();
    if (rtp.payloadType !== this.#audio?.payloadType) {
      this.counters.rtpUnexpected++;
      return;
    }
    this.counters.rtpIn++;
    this.#events.reached('firstRtpIn');
    // Padding alone probes bandwidth and carries no sound.
    if (rtp.payload.length > 0) this.#events.audio(rtp);
  }
}
