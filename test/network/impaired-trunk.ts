/**
 * The network between the trunks of two regions' relays, which impairs what they send each other. Replies go
 * to the relay that a frame names, so frames name this network on their way up, and that relay again on their
 * way down.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import { parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import {
  TRUNK_HEADER_LENGTH,
  TRUNK_PROXY,
  TRUNK_PROXY_PORT,
  hasTrunkFrame,
  trunkFrameEnd,
} from '../../protocol/trunk.ts';
import { DelayLine } from './delay-line.ts';
import { Impairment, type ImpairmentOptions } from './impairment.ts';
import { RtpLedger, isRtp } from './rtp-ledger.ts';

export interface ImpairedTrunkOptions {
  /** The relay that holds the clients. */
  readonly ingress: TrunkAddress;
  /** The relay of the region where sessions live. */
  readonly home: TrunkAddress;
  readonly impairment: ImpairmentOptions;
  /** 32 bits; the two directions make different use of it. */
  readonly seed: number;
}

export class ImpairedTrunk implements AsyncDisposable {
  /** From the ingress to the home of sessions. */
  readonly up: Impairment;
  readonly down: Impairment;
  /** Audio of clients that came out of it. */
  readonly audioUp = new RtpLedger();
  readonly #line = new DelayLine();
  /** Sends each way from where replies to it come, as the other side's trunk would. */
  readonly #sockets: { readonly ofHome: Socket; readonly ofIngress: Socket };

  private constructor(ofHome: Socket, ofIngress: Socket, options: ImpairedTrunkOptions) {
    const { ingress, home, impairment, seed } = options;
    this.#sockets = { ofHome, ofIngress };
    this.up = new Impairment(impairment, seed);
    this.down = new Impairment(impairment, ~seed);
    ofHome.on('message', (datagram) => {
      nameProxy(datagram, addressOf(ofIngress));
      this.#pass(this.up, datagram, () => {
        for (const payload of payloadsOf(datagram)) {
          if (isRtp(payload)) this.audioUp.note(payload);
        }
        ofIngress.send(datagram, home.port, home.address);
      });
    });
    ofIngress.on('message', (datagram) => {
      nameProxy(datagram, ingress);
      this.#pass(this.down, datagram, () => ofHome.send(datagram, ingress.port, ingress.address));
    });
  }

  static async open(options: ImpairedTrunkOptions): Promise<ImpairedTrunk> {
    const sockets = [createSocket('udp4'), createSocket('udp4')] as const;
    await Promise.all(sockets.map((it) => once(it.bind(0, LOOPBACK), 'listening')));
    return new ImpairedTrunk(...sockets, options);
  }

  /** What the ingress is to take for the trunk of the home's relay. */
  get home(): TrunkAddress {
    return addressOf(this.#sockets.ofHome);
  }

  /** Whether nothing passes, either way. */
  get isCut(): boolean {
    return this.up.isCut && this.down.isCut;
  }

  set isCut(isCut: boolean) {
    this.up.isCut = isCut;
    this.down.isCut = isCut;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#line[Symbol.dispose]();
    const sockets = Object.values(this.#sockets);
    await Promise.all(sockets.map((it) => new Promise<void>((done) => void it.close(done))));
  }

  #pass(by: Impairment, { length }: Buffer, send: () => void): void {
    for (const at of by.arrivals(length, performance.now())) this.#line.add(at, send);
  }
}

/** Puts an address in place of the relay that each frame of a datagram names. */
function nameProxy(datagram: Buffer, { address, port }: TrunkAddress): void {
  const bytes = parseAddress(address);
  for (const [at] of framesOf(datagram)) {
    datagram.set(bytes, at + TRUNK_PROXY);
    datagram.writeUInt16BE(port, at + TRUNK_PROXY_PORT);
  }
}

function payloadsOf(datagram: Buffer): Buffer[] {
  return framesOf(datagram).map(([at, end]) => datagram.subarray(at + TRUNK_HEADER_LENGTH, end));
}

/** Where each frame starts and ends. */
function framesOf(datagram: Buffer): [number, number][] {
  const frames: [number, number][] = [];
  let at = 0;
  do {
    const end = trunkFrameEnd(datagram, at, datagram.length);
    if (end < 0) break;
    frames.push([at, end]);
    at = end;
  } while (hasTrunkFrame(datagram, at, datagram.length));
  return frames;
}

function addressOf(socket: Socket): TrunkAddress {
  const { address, port } = socket.address();
  return { address, port };
}
