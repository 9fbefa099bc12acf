/** One client of the load: checks, secures and speaks, with werift's SRTP, so that both ends do not share a fault. */
import { randomBytes } from 'node:crypto';
import { Message, RtpHeader, SrtpSession, classes, methods, parseMessage } from 'werift';
import type { DtlsContext } from '../../origin/transceiver/dtls-context.ts';
import { DtlsEndpoint, type SrtpKeys } from '../../origin/transceiver/dtls.ts';
import { isRtcp } from '../../origin/transceiver/srtp.ts';

const PAYLOAD_TYPE = 111;
/** Bytes of 20 ms of Opus at about 40 kbit/s, and its samples at 48 kHz. */
const PAYLOAD_LENGTH = 100;
const SAMPLES = 960;

/** Milliseconds between two checks, as Chromium sends them, and until a lost one is sent again. */
const CHECK_INTERVAL = 2_500;
const CHECK_RETRY = 500;

export type Setup = 'active' | 'passive';

export interface LoadClientOptions {
  readonly context: DtlsContext;
  /** SHA-256 of the certificate of `context`. */
  readonly fingerprint: string;
  /** The client's side of DTLS: `active` sends the first flight. */
  readonly setup: Setup;
  /** Sends a datagram to the server. */
  send(packet: Buffer): void;
}

export class LoadClient {
  readonly offer: string;
  /** SRTP packets that came back. */
  received = 0;
  /** Whether DTLS has ended. */
  ended = false;
  /** Settles with the milliseconds from the first check to the keys of SRTP. */
  readonly secured: Promise<number>;
  readonly #options: LoadClientOptions;
  readonly #ufrag = randomBytes(4).toString('hex');
  readonly #password = randomBytes(16).toString('hex');
  readonly #ssrc = randomBytes(4).readUInt32BE();
  readonly #secured = Promise.withResolvers<number>();
  readonly #packets: Buffer[] = [];
  #remote = { ufrag: '', password: Buffer.alloc(0) };
  #dtls: DtlsEndpoint | undefined;
  #srtp: SrtpSession | undefined;
  #checks: NodeJS.Timeout | undefined;
  #firstCheckAt = 0;
  #answered = false;
  #sequence = 0;

  constructor(options: LoadClientOptions) {
    this.#options = options;
    this.secured = this.#secured.promise;
    this.offer = [
      'v=0',
      'o=- 1 2 IN IP4 127.0.0.1',
      's=-',
      't=0 0',
      'a=group:BUNDLE 0',
      `m=audio 9 UDP/TLS/RTP/SAVPF ${PAYLOAD_TYPE}`,
      'c=IN IP4 0.0.0.0',
      `a=ice-ufrag:${this.#ufrag}`,
      `a=ice-pwd:${this.#password}`,
      `a=fingerprint:sha-256 ${options.fingerprint}`,
      `a=setup:${options.setup}`,
      'a=mid:0',
      'a=sendrecv',
      'a=rtcp-mux',
      `a=rtpmap:${PAYLOAD_TYPE} opus/48000/2`,
      `a=ssrc:${this.#ssrc} cname:load`,
      '',
    ].join('\r\n');
  }

  /** Begins to check; what the server sends must come to {@link receive} from now on. */
  take(answer: string): void {
    const field = (name: string) => new RegExp(`^a=${name}:(\\S+)`, 'm').exec(answer)![1]!;
    this.#remote = { ufrag: field('ice-ufrag'), password: Buffer.from(field('ice-pwd')) };
    const [, hex] = /^a=fingerprint:sha-256 (\S+)/m.exec(answer)!;
    const digest = Buffer.from(hex!.replaceAll(':', ''), 'hex');
    const role = this.#options.setup === 'active' ? 'client' : 'server';
    this.#dtls = new DtlsEndpoint(this.#options.context, role, [{ hash: 'sha-256', digest }], {
      send: (datagram) => this.#options.send(datagram),
      connected: (keys) => this.#onKeys(keys),
      data: () => undefined,
      closed: (...why) => {
        this.ended = true;
        this.#secured.reject(new Error(`DTLS ended: ${why.join(', ')}`));
      },
    });
    this.#firstCheckAt = performance.now();
    this.#check();
  }

  receive(packet: Buffer): void {
    const first = packet[0]!;
    if (first >= 128) this.received += isRtcp(packet) ? 0 : 1;
    else if (first >= 20) this.#dtls?.receive(packet);
    else this.#onStun(packet);
  }

  /** Encrypts that many packets, so that sending them costs nothing while others are measured. */
  prepare(count: number): void {
    this.#packets.length = 0;
    for (let i = 0; i < count; i++) {
      const header = new RtpHeader({
        payloadType: PAYLOAD_TYPE,
        sequenceNumber: this.#sequence & 0xffff,
        timestamp: this.#sequence * SAMPLES,
        ssrc: this.#ssrc,
      });
      this.#packets.push(this.#srtp!.encrypt(randomBytes(PAYLOAD_LENGTH), header));
      this.#sequence++;
    }
  }

  /** Sends one of the prepared packets. */
  speak(index: number): void {
    this.#options.send(this.#packets[index]!);
  }

  /** Says goodbye if it has keys. */
  close(): void {
    clearTimeout(this.#checks);
    this.#dtls?.close();
  }

  #check(): void {
    const message = new Message(methods.BINDING, classes.REQUEST)
      .setAttribute('USERNAME', `${this.#remote.ufrag}:${this.#ufrag}`)
      .setAttribute('PRIORITY', 1_853_824_767)
      .setAttribute('ICE-CONTROLLING', 1n)
      .setAttribute('USE-CANDIDATE', null);
    this.#options.send(message.addMessageIntegrity(this.#remote.password).addFingerprint().bytes);
    const wait = this.#answered ? CHECK_INTERVAL : CHECK_RETRY;
    this.#checks = setTimeout(() => this.#check(), wait);
  }

  #onStun(packet: Buffer): void {
    const message = parseMessage(packet);
    if (message?.messageClass === classes.REQUEST) {
      const answer = new Message(methods.BINDING, classes.RESPONSE, message.transactionId);
      answer.setAttribute('XOR-MAPPED-ADDRESS', ['127.0.0.1', 9]);
      const sealed = answer.addMessageIntegrity(Buffer.from(this.#password)).addFingerprint();
      this.#options.send(sealed.bytes);
    } else if (message?.messageClass === classes.RESPONSE && !this.#answered) {
      this.#answered = true;
      this.#dtls!.start();
    }
  }

  #onKeys(keys: SrtpKeys | undefined): void {
    if (!keys) return this.#secured.reject(new Error('The server chose no SRTP profile.'));
    this.#srtp = new SrtpSession({
      profile: keys.profile,
      keys: {
        localMasterKey: keys.localKey,
        localMasterSalt: keys.localSalt,
        remoteMasterKey: keys.remoteKey,
        remoteMasterSalt: keys.remoteSalt,
      },
    });
    this.#secured.resolve(performance.now() - this.#firstCheckAt);
  }
}
