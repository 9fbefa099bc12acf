/** The audio of one session: SRTP and SRTCP both ways, from the moment there are keys. */
import type { AudioPacket, ReceivedAudio } from '../backend/backend.ts';
import { AudioSender } from './audio.ts';
import type { SrtpKeys } from './dtls.ts';
import type { OfferedAudio } from './offer.ts';
import type { Stage } from './session-stages.ts';
import { Srtp, isRtcp } from './srtp.ts';

export interface MediaCounters {
  rtpIn: number;
  rtpOut: number;
  rtcpIn: number;
  rtcpOut: number;
  /** RTP that was not authentic, came before, or came before the keys. */
  rtpRefused: number;
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
    rtpUnexpected: 0,
  };
  readonly #audio: OfferedAudio | undefined;
  readonly #sender: AudioSender | undefined;
  readonly #sends: boolean;
  readonly #events: MediaEvents;
  #srtp: Srtp | undefined;

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

  /** Nothing is sent or taken before. */
  secure(keys: SrtpKeys): void {
    this.#srtp = new Srtp(keys);
  }

  /** Takes an RTP or RTCP packet. Total. */
  receive(packet: Buffer): void {
    if (isRtcp(packet)) this.counters.rtcpIn++;
    else this.#onRtp(packet);
  }

  /** Sends one frame; nothing when the client wants none. */
  send(packet: AudioPacket): void {
    if (!this.#srtp || !this.#sends) return;
    const protectedPacket = this.#sender?.packet(packet, this.#srtp);
    if (!protectedPacket) return;
    this.#events.send(protectedPacket);
    this.counters.rtpOut++;
    this.#events.reached('firstRtpOut');
  }

  /** Reports on what was sent when that is due. To be called about every second. */
  tick(): void {
    const report = this.#srtp && this.#sender?.report(this.#srtp);
    if (!report) return;
    this.#events.send(report);
    this.counters.rtcpOut++;
  }

  #onRtp(packet: Buffer): void {
    const rtp = this.#srtp?.unprotect(packet);
    if (!rtp) {
      this.counters.rtpRefused++;
      return;
    }
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
