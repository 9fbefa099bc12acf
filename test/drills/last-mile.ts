/**
 * The network between one client and the relays: it notes when audio comes down, and may lead the client's
 * packets to another relay, as anycast does, without the client or its address changing.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import { isRtcp } from '../../origin/transceiver/srtp.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

/** RFC 7983 §7: first byte of RTP and RTCP. */
const FIRST_RTP = 128;
const LAST_RTP = 191;

/** Candidates that clients send UDP to, and others (RFC 8839 §5.1). */
const UDP_CANDIDATE = /^(a=candidate:\S+ \d+ udp \d+ )(\S+) (\d+)( .*)$/gim;
const TCP_CANDIDATE = /^a=candidate:\S+ \d+ tcp .*\r?\n/gim;

/** One address that clients send to, and the relay behind it. */
interface Front {
  readonly socket: Socket;
  relay: TrunkAddress;
  /** By the client's address: relays tell clients apart by it. */
  readonly upstreams: Map<string, Socket>;
}

export class LastMile implements AsyncDisposable {
  readonly #onAudio: () => void;
  /** By the relay that an answer names. */
  readonly #fronts = new Map<string, Front>();
  #closed = false;

  /** @param onAudio Called with each RTP packet that comes down. */
  constructor(onAudio: () => void) {
    this.#onAudio = onAudio;
  }

  /** The answer with each UDP candidate led through this network; it has no other candidates then. */
  async reroute(answer: string): Promise<string> {
    for (const [, , address, port] of answer.matchAll(UDP_CANDIDATE)) {
      await this.#open({ address: address!, port: Number(port) });
    }
    return answer
      .replace(TCP_CANDIDATE, '')
      .replace(
        UDP_CANDIDATE,
        (_line, start: string, address: string, port: string, end: string) => {
          const own = this.#fronts.get(`${address}:${port}`)!.socket.address();
          return `${start}${own.address} ${own.port}${end}`;
        },
      );
  }

  /** From now on, what clients send to one relay goes to another. */
  shift(from: TrunkAddress, to: TrunkAddress): void {
    const front = this.#fronts.get(`${from.address}:${from.port}`);
    if (!front) throw new Error(`No answer named the relay ${from.address}:${from.port}.`);
    front.relay = to;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const sockets: Socket[] = [];
    for (const { socket, upstreams } of this.#fronts.values()) {
      sockets.push(socket, ...upstreams.values());
    }
    await Promise.all(sockets.map((it) => new Promise<void>((done) => void it.close(done))));
  }

  async #open(relay: TrunkAddress): Promise<void> {
    const name = `${relay.address}:${relay.port}`;
    if (this.#fronts.has(name)) return;
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    const front: Front = { socket, relay, upstreams: new Map() };
    this.#fronts.set(name, front);
    socket.on('message', (packet, client) => {
      if (this.#closed) return;
      const { port, address } = front.relay;
      this.#upstreamOf(front, client).send(packet, port, address);
    });
    await once(socket, 'listening');
  }

  #upstreamOf(front: Front, { address, port }: TrunkAddress): Socket {
    const client = `${address}:${port}`;
    const known = front.upstreams.get(client);
    if (known) return known;
    const upstream = createSocket('udp4').bind(0, LOOPBACK);
    upstream.on('message', (packet) => {
      if (this.#closed) return;
      if (isAudio(packet)) this.#onAudio();
      front.socket.send(packet, port, address);
    });
    front.upstreams.set(client, upstream);
    return upstream;
  }
}

function isAudio(packet: Buffer): boolean {
  const [first = 0] = packet;
  return first >= FIRST_RTP && first <= LAST_RTP && !isRtcp(packet);
}
