/**
 * The I/O back end for clients without UDP: ICE over TCP (RFC 6544), as the passive side. What comes in
 * a stream's frames is forwarded like datagrams, over a trunk socket of its own.
 */
import { once } from 'node:events';
import { createServer, isIP, type Server, type Socket } from 'node:net';
import { parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import { bindError } from '../bind-error.ts';
import type { Counters } from './counters.ts';
import { openDgramIo } from './dgram-io.ts';
import { hasBatchedCalls } from './libc.ts';
import { requireListeners, type IoOptions, type OpenIo, type RelayIo } from './io.ts';
import { MAX_CLIENT_PACKET, type PacketBatch } from './packet-batch.ts';
import { PacketCollector } from './packet-collector.ts';
import { TcpConnection } from './tcp-connection.ts';
import { TcpConnections } from './tcp-connections.ts';
import { TCP_LIMITS, type TcpLimits } from './tcp-limits.ts';

/** A back end whose public sockets are TCP servers. @param limits What differs from {@link TCP_LIMITS}. */
export function tcpIo(limits: Partial<TcpLimits> = {}): OpenIo {
  const all = { ...TCP_LIMITS, ...limits };
  return (options, counters) => openTcpIo(options, counters, all);
}

async function openTcpIo(
  options: IoOptions,
  counters: Counters,
  limits: TcpLimits,
): Promise<RelayIo> {
  requireListeners(options);
  const opened = await Promise.allSettled(
    options.listeners.map((address) => openServer(address, limits, options.beside)),
  );
  const servers = opened.filter((one) => one.status === 'fulfilled').map((one) => one.value);
  try {
    const failure = opened.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
    const trunk = await openDgramIo({ ...options, listeners: [] }, counters);
    return new TcpIo(servers, trunk, limits, counters);
  } catch (error) {
    await Promise.all(servers.map(closeServer));
    throw error;
  }
}

class TcpIo implements RelayIo {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly #servers: readonly Server[];
  readonly #trunkIo: RelayIo;
  readonly #limits: TcpLimits;
  readonly #counters: Counters;
  readonly #connections: TcpConnections;
  readonly #collector: PacketCollector;
  #closed = false;

  constructor(servers: readonly Server[], trunkIo: RelayIo, limits: TcpLimits, counters: Counters) {
    this.#servers = servers;
    this.#trunkIo = trunkIo;
    this.#limits = limits;
    this.#counters = counters;
    this.#connections = new TcpConnections(limits, counters);
    this.#collector = new PacketCollector(counters, TRUNK_HEADER_LENGTH + MAX_CLIENT_PACKET);
    this.listeners = servers.map(boundAddress);
    this.trunk = trunkIo.trunk;
    for (const [listener, server] of servers.entries()) {
      server.on('connection', (socket) => this.#accept(socket, listener));
      // The process has no file left for another connection, and the system refuses it.
      server.on('error', () => counters.tcpClosed('too-many'));
    }
  }

  start(onBatch: (batch: PacketBatch) => void): void {
    this.#collector.start(onBatch);
    this.#trunkIo.start(onBatch);
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
    if (this.#closed) return;
    const connection = this.#connections.find(listener, address, addressAt, port);
    if (!connection) {
      this.#counters.drop('no-connection');
    } else if (!connection.send(data, start, end)) {
      this.#counters.drop('congested');
    } else if (connection.isAnswered) {
      this.#connections.answered(connection);
    }
  }

  sendTrunk(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    this.#trunkIo.sendTrunk(data, start, end, address, addressAt, port);
  }

  /** What goes to clients is with the system already. */
  flush(): void {
    this.#trunkIo.flush();
  }

  retire(): void {
    for (const server of this.#servers) server.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#collector.close();
    this.#connections.close();
    await Promise.all([...this.#servers.map(closeServer), this.#trunkIo.close()]);
  }

  #accept(socket: Socket, listener: number): void {
    // A connection may end at any moment, with an error or without one.
    socket.on('error', () => {});
    const { remoteAddress, remotePort } = socket;
    if (this.#closed || remoteAddress === undefined || remotePort === undefined) {
      socket.destroy();
      return;
    }
    const address = parseAddress(remoteAddress);
    const connection = new TcpConnection(socket, listener, address, remotePort, this.#limits);
    const refusal = this.#connections.admit(connection);
    if (refusal) {
      this.#counters.tcpClosed(refusal);
      connection.destroy();
      return;
    }
    socket.on('close', () => this.#connections.end(connection));
    socket.on('data', (chunk) => {
      const reason = connection.receive(chunk, (packet) =>
        this.#collector.add(packet, address, remotePort, listener),
      );
      if (reason) this.#connections.end(connection, reason);
    });
  }
}

async function openServer(
  { address, port }: TrunkAddress,
  { maxQueued }: TcpLimits,
  beside = false,
): Promise<Server> {
  const family = isIP(address);
  if (family === 0) throw new Error(`"${address}" is not an IP address; a relay binds to one.`);
  const server = createServer({ noDelay: true, highWaterMark: maxQueued });
  // Shared from the start, for the one that will take this one's place.
  const reusePort = hasBatchedCalls();
  try {
    if (reusePort && !beside && port !== 0) await requireFree(address, port);
    const listening = once(server, 'listening');
    // An IPv6 socket must not also take IPv4 connections: there is a listener of its own for them.
    server.listen({ host: address, port, ipv6Only: family === 6, reusePort });
    await listening;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw bindError(code, address, port, error, 'TCP');
  }
  return server;
}

/** A port that another process shares would seem free. @throws Error when the system refuses it. */
async function requireFree(address: string, port: number): Promise<void> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen({ host: address, port, ipv6Only: isIP(address) === 6 });
  await listening;
  await closeServer(server);
}

function boundAddress(server: Server): TrunkAddress {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
  return { address: bound.address, port: bound.port };
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
