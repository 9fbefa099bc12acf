/** A subject's process as the bench sees it, and the clients that call it. */
import { fork, type ChildProcess } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { formatAddress, parseAddress } from '../../protocol/address.ts';
import {
  TRUNK_HEADER_LENGTH,
  trunkClientPort,
  trunkFrameEnd,
  writeTrunkHeader,
} from '../../protocol/trunk.ts';
import { createCertificate } from '../../origin/transceiver/certificate.ts';
import { DtlsContext } from '../../origin/transceiver/dtls-context.ts';
import { LoadClient, type Setup } from './load-client.ts';
import type { Created, Question, SubjectName, Usage } from './subject-process.ts';

const LOOPBACK = '127.0.0.1';
/** The address that all clients seem to have; they differ by port. */
const CLIENTS = parseAddress('198.51.100.1');
const FIRST_PORT = 1024;
const LAST_PORT = 65_535;
const BUFFER = 8 << 20;

type Unanswered<Q> = Q extends unknown ? Omit<Q, 'id'> : never;

export class Subject {
  readonly #name: SubjectName;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #context: DtlsContext;
  readonly #fingerprint: string;
  /** By the port that tells them apart: the client's own behind a relay, the server's without. */
  readonly #clients = new Map<number, LoadClient>();
  readonly #waiting = new Map<number, (reply: { value?: unknown; error?: string }) => void>();
  #asked = 0;
  #nextPort = FIRST_PORT;
  #closed = false;
  /** Milliseconds that each packet is under way, each way. */
  delay = 0;

  private constructor(
    name: SubjectName,
    child: ChildProcess,
    socket: Socket,
    dtls: { context: DtlsContext; fingerprint: string },
  ) {
    this.#name = name;
    this.#child = child;
    this.#socket = socket;
    this.#context = dtls.context;
    this.#fingerprint = dtls.fingerprint;
    child.on('message', (reply: { id: number; value?: unknown; error?: string }) => {
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    });
    socket.on('message', (datagram, { port }) => this.#onDatagram(datagram, port));
  }

  /** @param flags Of V8, besides those that every subject has. */
  static async start(name: SubjectName, flags: readonly string[] = []): Promise<Subject> {
    const path = new URL('subject-process.ts', import.meta.url);
    const child = fork(path, [name], { execArgv: ['--expose-gc', '--no-warnings', ...flags] });
    const socket = createSocket({ type: 'udp4', recvBufferSize: BUFFER, sendBufferSize: BUFFER });
    socket.bind(0, LOOPBACK);
    await once(socket, 'listening');
    const certificate = await createCertificate();
    const { fingerprint } = certificate;
    return new Subject(name, child, socket, { context: new DtlsContext(certificate), fingerprint });
  }

  usage(): Promise<Usage> {
    return this.#ask<Usage>({ ask: 'usage' });
  }

  /** A client that has its answer and checks. */
  async call(setup: Setup): Promise<LoadClient> {
    let port = this.#nextPort === LAST_PORT ? FIRST_PORT : this.#nextPort;
    this.#nextPort = port + 1;
    let to = 0;
    const client = new LoadClient({
      context: this.#context,
      fingerprint: this.#fingerprint,
      setup,
      send: (packet) => {
        const datagram = this.#name === 'own' ? this.#frame(packet, port) : packet;
        this.#later(() => this.#socket.send(datagram, to, LOOPBACK));
      },
    });
    const created = await this.#ask<Created>({ ask: 'create', offer: client.offer });
    to = created.port;
    if (this.#name === 'stock') port = to;
    this.#clients.set(port, client);
    client.take(created.answer);
    return client;
  }

  /** Ends every session at the server and every client. */
  async endAll(): Promise<void> {
    await this.#ask({ ask: 'endAll' });
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  async close(): Promise<void> {
    this.delay = 0;
    this.#closed = true;
    for (const client of this.#clients.values()) client.close();
    this.#context.close();
    this.#socket.close();
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  #frame(packet: Buffer, port: number): Buffer {
    const frame = Buffer.allocUnsafe(TRUNK_HEADER_LENGTH + packet.length);
    const { port: own } = this.#socket.address();
    const proxy = parseAddress(LOOPBACK);
    writeTrunkHeader(frame, 0, 0, 0, packet.length, CLIENTS, 0, port, proxy, 0, own);
    frame.set(packet, TRUNK_HEADER_LENGTH);
    return frame;
  }

  #onDatagram(datagram: Buffer, port: number): void {
    if (this.#name === 'stock') return this.#give(port, datagram);
    for (let at = 0, next; at < datagram.length; at = next) {
      next = trunkFrameEnd(datagram, at, datagram.length);
      if (next < 0) throw new Error(`no frame from ${formatAddress(datagram, 0)}`);
      this.#give(trunkClientPort(datagram, at), datagram.subarray(at + TRUNK_HEADER_LENGTH, next));
    }
  }

  #give(port: number, packet: Buffer): void {
    this.#later(() => this.#clients.get(port)?.receive(packet));
  }

  #later(what: () => void): void {
    if (this.delay === 0) what();
    else setTimeout(() => this.#closed || what(), this.delay);
  }

  async #ask<T>(question: Unanswered<Question>): Promise<T> {
    const id = this.#asked++;
    const reply = await new Promise<{ value?: unknown; error?: string }>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ ...question, id });
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the subject's process is ours, and of one build
    return reply.value as T;
  }
}
