/** The portable I/O back end, on node:dgram: one event a packet in, one call a datagram out. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { TRUNK_MTU } from '../../protocol/trunk.ts';
import { AddressCache } from './address-cache.ts';
import { bindError, codeOf } from '../bind-error.ts';
import { copyBytes } from './bytes.ts';
import type { Counters } from './counters.ts';
import { requireListeners, type IoOptions, type RelayIo } from './io.ts';
import { TRUNK_SOCKET, type PacketBatch } from './packet-batch.ts';
import { PacketCollector } from './packet-collector.ts';
import { TrunkOutbox } from './trunk-outbox.ts';

/** Bytes asked for each socket's buffers; a system grants what its limits allow. */
const SOCKET_BUFFER = 8 * 1024 * 1024;
const SMALLEST_SOCKET_BUFFER = 256 * 1024;

/** Bytes that wait for the system to take them, of a socket: 20 ms at 400 Mbit/s, and no more is of use. */
export const MAX_QUEUED = 1024 * 1024;

/** Opens the sockets; see {@link RelayIo}. */
export async function openDgramIo(options: IoOptions, counters: Counters): Promise<RelayIo> {
  requireListeners(options);
  const wanted = [...options.listeners, options.trunk];
  const opened = await Promise.allSettled(wanted.map(openSocket));
  const sockets = opened.filter((one) => one.status === 'fulfilled').map((one) => one.value);
  const failure = opened.find((one) => one.status === 'rejected');
  if (failure) {
    await Promise.all(sockets.map(closeSocket));
    throw failure.reason;
  }
  return new DgramIo(
    sockets.slice(0, -1),
    sockets.at(-1)!,
    options.trunkMtu ?? TRUNK_MTU,
    counters,
  );
}

class DgramIo implements RelayIo {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly #publicSockets: readonly Socket[];
  readonly #trunkSocket: Socket;
  readonly #addresses = new AddressCache();
  readonly #collector: PacketCollector;
  readonly #outbox: TrunkOutbox;
  readonly #counters: Counters;
  #closed = false;

  constructor(
    publicSockets: readonly Socket[],
    trunkSocket: Socket,
    trunkMtu: number,
    counters: Counters,
  ) {
    this.#publicSockets = publicSockets;
    this.#trunkSocket = trunkSocket;
    this.#counters = counters;
    this.#collector = new PacketCollector(counters);
    this.#outbox = new TrunkOutbox(trunkMtu, (datagram, address, addressAt, port) =>
      this.#send(trunkSocket, datagram, address, addressAt, port),
    );
    this.listeners = publicSockets.map(boundAddress);
    this.trunk = boundAddress(trunkSocket);
    for (const socket of [...publicSockets, trunkSocket]) {
      socket.on('error', () => counters.sendError());
    }
  }

  start(onBatch: (batch: PacketBatch) => void): void {
    this.#collector.start(onBatch);
    this.#publicSockets.forEach((socket, listener) => this.#receiveFrom(socket, listener));
    this.#receiveFrom(this.#trunkSocket, TRUNK_SOCKET);
  }

  sendPublic(
    listener: number,
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    // The system may take the bytes later, when the slab holds others.
    const datagram = copyBytes(data, start, end);
    this.#send(this.#publicSockets[listener]!, datagram, address, addressAt, port);
  }

  sendTrunk(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    this.#outbox.add(data, start, end, address, addressAt, port);
  }

  flush(): void {
    this.#outbox.flush();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#collector.close();
    await Promise.all([...this.#publicSockets, this.#trunkSocket].map(closeSocket));
  }

  #receiveFrom(socket: Socket, index: number): void {
    socket.on('message', (packet, { address, port }) => {
      this.#collector.add(packet, this.#addresses.bytesOf(address), port, index);
    });
  }

  #send(
    socket: Socket,
    datagram: Uint8Array,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    if (this.#closed) return;
    if (port === 0) this.#counters.sendError();
    else if (socket.getSendQueueSize() >= MAX_QUEUED) this.#counters.drop('queue-full');
    else socket.send(datagram, port, this.#addresses.textOf(address, addressAt), this.#countError);
  }

  readonly #countError = (error: Error | null): void => {
    if (error) this.#counters.sendError();
  };
}

async function openSocket({ address, port }: TrunkAddress): Promise<Socket> {
  const family = isIP(address);
  if (family === 0) throw new Error(`"${address}" is not an IP address; a relay binds to one.`);
  const socket = createSocket({
    type: family === 4 ? 'udp4' : 'udp6',
    // An IPv6 socket must not also take IPv4 packets: there is a listener of its own for them.
    ipv6Only: family === 6,
    lookup: (host, _options, callback) => callback(null, host, family),
  });
  try {
    // With a synchronous lookup the socket listens before bind returns.
    const listening = once(socket, 'listening');
    socket.bind(port, address);
    await listening;
  } catch (error) {
    await closeSocket(socket);
    throw bindError(codeOf(error), address, port, error);
  }
  growBuffer((size) => socket.setRecvBufferSize(size));
  growBuffer((size) => socket.setSendBufferSize(size));
  return socket;
}

function growBuffer(set: (size: number) => void): void {
  for (let size = SOCKET_BUFFER; size >= SMALLEST_SOCKET_BUFFER; size /= 2) {
    try {
      set(size);
      return;
    } catch {
      // Linux caps the size by itself; macOS refuses one above its limit.
    }
  }
}

function boundAddress(socket: Socket): TrunkAddress {
  const { address, port } = socket.address();
  return { address, port };
}

async function closeSocket(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}
