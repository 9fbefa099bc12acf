/**
 * The one UDP socket of a transceiver: all sessions, all clients. It reads trunk frames and hands a
 * check to the session of its ufrag, and everything else to the session whose verified checks came by
 * the same path.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { formatAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { STUN_BINDING, readStun } from '../../protocol/stun.ts';
import {
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  setTrunkFlags,
  trunkClientPort,
  trunkFlags,
  hasTrunkFrame,
  trunkFrameEnd,
} from '../../protocol/trunk.ts';
import { bindError, codeOf } from '../bind-error.ts';
import { peerFilter } from './peers.ts';
import { TrunkSender } from './trunk-sender.ts';

/** Bytes asked of the kernel for each direction's queue; it may grant less. */
const SOCKET_BUFFER = 4 * 1024 * 1024;

/** Why a datagram or frame went no further. */
const noDrops = () => ({
  'not-a-peer': 0,
  'not-a-frame': 0,
  'down-frame': 0,
  'not-a-check': 0,
  'unknown-ufrag': 0,
  'unknown-path': 0,
  'unknown-kind': 0,
  fault: 0,
});
export type TrunkDrop = keyof ReturnType<typeof noDrops>;

export interface TrunkCounters {
  framesIn: number;
  framesOut: number;
  bytesIn: number;
  bytesOut: number;
  sendErrors: number;
  readonly drops: Record<TrunkDrop, number>;
}

/** How a client reaches a session: its address, and the relay and listener it comes through. */
export interface Path {
  /** Equal for equal paths. */
  readonly key: string;
  /** The header of every frame sent down this path. */
  readonly header: Buffer;
  readonly client: TrunkAddress;
  /** Where on the trunk frames down this path go to: the relay the last valid packet came from. */
  source: TrunkAddress;
}

/** A session as the socket sees it. */
export interface PathOwner {
  /** A Binding request that names that ufrag of the session's; nothing of it is verified. */
  onCheck(packet: Buffer, path: Path, ufrag: string): void;
  /** A Binding success response on a path that the session has claimed; nothing of it is verified. */
  onAnswer(packet: Buffer, path: Path): void;
  /** Anything else, on a path that the session has claimed. `source` is where it came from. */
  onPacket(packet: Buffer, path: Path, source: TrunkAddress): void;
  /** Whether the path is in use, so that no other session may claim it. */
  defends(path: Path): boolean;
}

interface Known {
  readonly path: Path;
  readonly owner: PathOwner;
}

export class TrunkSocket {
  readonly #socket: Socket;
  readonly #isPeer: (address: string) => boolean;
  readonly #log: Logger;
  readonly #ufrags = new Map<string, PathOwner>();
  readonly #sender: TrunkSender;
  readonly #paths = new Map<string, Known>();
  readonly counters: TrunkCounters = {
    framesIn: 0,
    framesOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    sendErrors: 0,
    drops: noDrops(),
  };

  private constructor(socket: Socket, peers: readonly string[], log: Logger) {
    this.#socket = socket;
    this.#sender = new TrunkSender(socket, this.counters);
    this.#isPeer = peerFilter(peers);
    this.#log = log;
    socket.on('message', (datagram, source) => this.#onDatagram(datagram, source));
    socket.on('error', (error) => log.error({ err: error }, 'trunk socket error'));
  }

  /** @throws Error that names the address when it cannot be bound. */
  static async open(trunk: TrunkAddress, peers: readonly string[], log: Logger) {
    const socket = createSocket({
      type: isIPv6(trunk.address) ? 'udp6' : 'udp4',
      recvBufferSize: SOCKET_BUFFER,
      sendBufferSize: SOCKET_BUFFER,
      lookup: isAddressAlready,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(trunk.port, trunk.address, () => {
          socket.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      socket.close();
      throw bindError(codeOf(error), trunk.address, trunk.port, error);
    }
    return new TrunkSocket(socket, peers, log);
  }

  get address(): TrunkAddress {
    const { address, port } = this.#socket.address();
    return { address, port };
  }

  /** Ufrags and paths that sessions hold. */
  get held(): { ufrags: number; paths: number } {
    return { ufrags: this.#ufrags.size, paths: this.#paths.size };
  }

  /** Sends the checks of a ufrag to a session. */
  register(ufrag: string, owner: PathOwner): void {
    this.#ufrags.set(ufrag, owner);
  }

  unregister(ufrag: string): void {
    this.#ufrags.delete(ufrag);
  }

  hasUfrag(ufrag: string): boolean {
    return this.#ufrags.has(ufrag);
  }

  /**
   * Gives a path to the session whose check came by it verified, be it another session's before: a NAT
   * may hand a port to another client. False when that session still defends it: the check may be spoofed.
   */
  claim(path: Path, owner: PathOwner): boolean {
    const holder = this.#paths.get(path.key)?.owner;
    if (holder && holder !== owner && holder.defends(path)) return false;
    this.#paths.set(path.key, { path, owner });
    return true;
  }

  release(path: Path, owner: PathOwner): void {
    if (this.#paths.get(path.key)?.owner === owner) this.#paths.delete(path.key);
  }

  /** Sends a packet down a path, at the end of this turn of the event loop. */
  send(path: Path, packet: Uint8Array): void {
    this.#sender.send(path, packet);
  }

  /** Closes once all that was sent has left: goodbyes are the last thing sent. */
  async close(): Promise<void> {
    await this.#sender.close();
    this.#ufrags.clear();
    this.#paths.clear();
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #onDatagram(datagram: Buffer, source: RemoteInfo): void {
    // Nothing can be sent back to port 0.
    if (source.port === 0 || !this.#isPeer(source.address)) return this.#drop('not-a-peer');
    let at = 0;
    do {
      const next = trunkFrameEnd(datagram, at, datagram.length);
      if (next < 0) return this.#drop('not-a-frame');
      this.counters.framesIn++;
      this.counters.bytesIn += next - at - TRUNK_HEADER_LENGTH;
      try {
        this.#onFrame(datagram, at, next, source);
      } catch (error) {
        this.#drop('fault');
        this.#log.error({ err: error }, 'a packet could not be handled; this is a bug');
      }
      at = next;
    } while (hasTrunkFrame(datagram, at, datagram.length));
  }

  #onFrame(datagram: Buffer, at: number, end: number, source: RemoteInfo): void {
    if (trunkFlags(datagram, at) & TRUNK_DOWN) return this.#drop('down-frame');
    const packet = datagram.subarray(at + TRUNK_HEADER_LENGTH, end);
    const kind = packet[0]!;
    const known = this.#paths.get(keyOf(datagram, at));
    // RFC 7983 §7: what a packet is, by its first byte.
    if (kind <= 3) {
      const header = datagram.subarray(at, at + TRUNK_HEADER_LENGTH);
      this.#onStun(packet, header, source, known);
    } else if ((kind >= 20 && kind <= 63) || (kind >= 128 && kind <= 191)) {
      if (known) known.owner.onPacket(packet, known.path, source);
      else this.#drop('unknown-path');
    } else this.#drop('unknown-kind');
  }

  #onStun(packet: Buffer, header: Buffer, source: TrunkAddress, known: Known | undefined): void {
    const message = readStun(packet);
    if (message?.method !== STUN_BINDING) return this.#drop('not-a-check');
    if (message.class === 'success') {
      if (known) known.owner.onAnswer(packet, known.path);
      else this.#drop('unknown-path');
      return;
    }
    if (message.class !== 'request' || !message.username) return this.#drop('not-a-check');
    const username = Buffer.from(message.username).toString('latin1');
    const ufrag = username.slice(0, Math.max(0, username.indexOf(':')));
    const owner = this.#ufrags.get(ufrag);
    if (!owner) return this.#drop('unknown-ufrag');
    owner.onCheck(packet, newPath(header, source, known?.path), ufrag);
  }

  #drop(reason: TrunkDrop): void {
    this.counters.drops[reason]++;
  }
}

/** Relays are known by their addresses; Node's own look-up would put each datagram off to another tick. */
function isAddressAlready(
  address: string,
  _options: unknown,
  done: (error: null, address: string, family: number) => void,
): void {
  done(null, address, isIPv6(address) ? 6 : 4);
}

/** The path of a frame; a known one keeps its key and header, but says where this frame came from. */
function newPath(header: Buffer, from: TrunkAddress, known: Path | undefined): Path {
  const source = { address: from.address, port: from.port };
  if (known) return { ...known, source };
  const down = Buffer.from(header);
  setTrunkFlags(down, 0, TRUNK_DOWN);
  return {
    key: keyOf(header, 0),
    header: down,
    client: { address: formatAddress(header, TRUNK_CLIENT), port: trunkClientPort(header, 0) },
    source,
  };
}

/** All of a header but kind and length; in one piece for listener 0, the only one of most relays. */
function keyOf(bytes: Buffer, at: number): string {
  const ends = bytes.toString('latin1', at + TRUNK_CLIENT, at + TRUNK_HEADER_LENGTH);
  const listener = bytes[at + TRUNK_LISTENER]!;
  return listener === 0 ? ends : String.fromCharCode(listener) + ends;
}
