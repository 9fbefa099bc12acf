/**
 * The network between one client and the relays: it notes when audio comes down, and may lead the client's
 * packets to another relay, as anycast does, without the client or its address changing.
 */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { isRtp } from '../network/rtp-ledger.ts';
import { UdpPath, type Passage } from '../network/udp-path.ts';

/** Candidates that clients send UDP to, and others (RFC 8839 §5.1). */
const UDP_CANDIDATE = /^(a=candidate:\S+ \d+ udp \d+ )(\S+) (\d+)( .*)$/gim;
const TCP_CANDIDATE = /^a=candidate:\S+ \d+ tcp .*\r?\n/gim;

/** Gives the address that packets to a relay go to instead, as the next network on their way. */
export type Through = (relay: TrunkAddress) => Promise<TrunkAddress>;

export class LastMile implements AsyncDisposable {
  readonly #down: Passage;
  readonly #through: Through;
  /** By the relay that an answer names. */
  readonly #paths = new Map<string, UdpPath>();

  /** @param onAudio Called with each RTP packet that comes down. @param through Straight to relays unless given. */
  constructor(onAudio: (packet: Buffer) => void, through: Through = async (relay) => relay) {
    this.#down = (packet, pass) => {
      if (isRtp(packet)) onAudio(packet);
      pass();
    };
    this.#through = through;
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
          const own = this.#paths.get(`${address}:${port}`)!.address;
          return `${start}${own.address} ${own.port}${end}`;
        },
      );
  }

  /** From now on, what clients send to one relay goes to another. */
  shift(from: TrunkAddress, to: TrunkAddress): void {
    const path = this.#paths.get(`${from.address}:${from.port}`);
    if (!path) throw new Error(`No answer named the relay ${from.address}:${from.port}.`);
    path.to = to;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#paths.values()].map((path) => path[Symbol.asyncDispose]()));
  }

  async #open(relay: TrunkAddress): Promise<void> {
    const name = `${relay.address}:${relay.port}`;
    if (this.#paths.has(name)) return;
    const next = await this.#through(relay);
    this.#paths.set(name, await UdpPath.open(next, { down: this.#down }));
  }
}
