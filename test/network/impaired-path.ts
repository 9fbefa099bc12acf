/** A UDP path between clients and one address that impairs what passes, each way in its own way. */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { DelayLine } from './delay-line.ts';
import { Impairment, type ImpairmentOptions } from './impairment.ts';
import { RtpLedger, isRtp } from './rtp-ledger.ts';
import { UdpPath, type Passage } from './udp-path.ts';

export class ImpairedPath implements AsyncDisposable {
  readonly up: Impairment;
  readonly down: Impairment;
  /** Audio of clients that came out of it. */
  readonly audioUp: RtpLedger;
  readonly #path: UdpPath;
  readonly #line: DelayLine;

  private constructor(
    path: UdpPath,
    parts: Pick<ImpairedPath, 'up' | 'down' | 'audioUp'>,
    line: DelayLine,
  ) {
    this.#path = path;
    this.#line = line;
    this.up = parts.up;
    this.down = parts.down;
    this.audioUp = parts.audioUp;
  }

  /** @param seed 32 bits; the two directions make different use of it. */
  static async open(
    to: TrunkAddress,
    options: ImpairmentOptions,
    seed: number,
  ): Promise<ImpairedPath> {
    const up = new Impairment(options, seed);
    const down = new Impairment(options, ~seed);
    const audioUp = new RtpLedger();
    const line = new DelayLine();
    const path = await UdpPath.open(to, {
      up: through(up, line, (packet) => isRtp(packet) && audioUp.note(packet)),
      down: through(down, line),
    });
    return new ImpairedPath(path, { up, down, audioUp }, line);
  }

  /** Where clients send to. */
  get address(): TrunkAddress {
    return this.#path.address;
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
    await this.#path[Symbol.asyncDispose]();
  }
}

/** What passes arrives as the impairment says. */
function through(by: Impairment, line: DelayLine, onPassed?: (packet: Buffer) => void): Passage {
  return (packet, pass) => {
    for (const at of by.arrivals(packet.length, performance.now())) {
      line.add(at, () => {
        onPassed?.(packet);
        pass();
      });
    }
  };
}
