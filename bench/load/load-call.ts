/** One call of the load, as a real client makes it: by the edge, and over a UDP socket of its own. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readCandidates } from '../../local/answer.ts';
import { placeHeaders, type Place } from '../../local/place.ts';
import type { DtlsContext } from '../../origin/transceiver/dtls-context.ts';
import { LoadClient, type Setup } from '../transceiver/load-client.ts';

/** Milliseconds that each request, and everything from the answer to the keys, may take. */
const TIMEOUT = 20_000;

/** Bytes of a socket's buffer: some seconds of packets, for this process may have to wait for a processor. */
const RECEIVE_BUFFER = 1 << 20;

/** Packets encrypted at a time: a second of speech. */
const SLICE = 50;

export interface LoadCallOptions {
  /** Base URL of the edge. */
  readonly edge: string;
  readonly place: Place;
  /** The caller's own: ports that one address uses again within seconds would be those of a NAT that is out of them. */
  readonly address: string;
  /** API key. */
  readonly key: string;
  readonly dtls: { readonly context: DtlsContext; readonly fingerprint: string };
  /** The client's side of DTLS. */
  readonly setup: Setup;
}

export class LoadCall {
  readonly #socket: Socket;
  readonly #client: LoadClient;
  readonly #options: LoadCallOptions;
  #location = '';
  #prepared = 0;
  #next = 0;
  #heardAt = 0;
  /** Packets of media so far. */
  sent = 0;
  /** The longest time in milliseconds between two packets that came back. */
  longestGap = 0;

  private constructor(options: LoadCallOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.#client = new LoadClient({
      ...options.dtls,
      setup: options.setup,
      send: (packet) => socket.send(packet),
    });
  }

  /**
   * A call whose keys are there.
   *
   * @throws Error that says what failed; nothing stays open on this side.
   */
  static async place(options: LoadCallOptions): Promise<LoadCall> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER });
    const call = new LoadCall(options, socket);
    // What could not be sent does not come back, and is counted so.
    socket.on('error', () => undefined);
    try {
      await call.#connect();
      return call;
    } catch (error) {
      call.#close();
      throw error;
    }
  }

  /** Packets that came back so far. */
  get received(): number {
    return this.#client.received;
  }

  get ended(): boolean {
    return this.#client.ended;
  }

  /**
   * Encrypts what is said first, part of a second: calls that differ by their `stagger` encrypt what follows at
   * different times.
   */
  prepare(stagger: number): void {
    this.#encrypt((stagger % SLICE) + 1);
  }

  /** Sends the next packet. */
  speak(): void {
    if (this.#next === this.#prepared) this.#encrypt(SLICE);
    this.#client.speak(this.#next++);
    this.sent++;
  }

  /** Ends the call at the edge. @throws Error when the edge says anything but yes. */
  async hangUp(): Promise<void> {
    const { edge, key, place } = this.#options;
    const response = await fetch(new URL(this.#location, edge), {
      method: 'DELETE',
      headers: headersOf(key, place),
      signal: AbortSignal.timeout(TIMEOUT),
    }).finally(() => this.#close());
    const text = await response.text();
    if (response.status !== 200) {
      throw new Error(`an end was answered with ${response.status} ${text}`);
    }
  }

  async #connect(): Promise<void> {
    const { edge, key, place } = this.#options;
    const response = await fetch(new URL('/v1/calls', edge), {
      method: 'POST',
      headers: { ...headersOf(key, place), 'content-type': 'application/sdp' },
      body: this.#client.offer,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const answer = await response.text();
    if (response.status !== 201) {
      throw new Error(`an offer was answered with ${response.status} ${answer}`);
    }
    this.#location = response.headers.get('location') ?? '';
    const candidate = readCandidates(answer).find((text) => text.endsWith('/udp'));
    const [, address, port] = /^(.+):(\d+)\/udp$/.exec(candidate ?? '') ?? [];
    if (address === undefined) throw new Error('an answer has no candidate of UDP');
    this.#socket.on('message', (packet) => this.#onPacket(packet));
    this.#socket.bind(0, this.#options.address);
    this.#socket.connect(Number(port), address);
    await once(this.#socket, 'connect');
    this.#client.take(answer);
    await this.#secured();
  }

  async #secured(): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`no keys after ${TIMEOUT} ms`)), TIMEOUT);
    await Promise.race([this.#client.secured, promise]).finally(() => clearTimeout(timer));
  }

  #encrypt(count: number): void {
    this.#client.prepare(count);
    this.#prepared = count;
    this.#next = 0;
  }

  #onPacket(packet: Buffer): void {
    const before = this.#client.received;
    this.#client.receive(packet);
    if (this.#client.received === before) return;
    const now = performance.now();
    if (before > 0) this.longestGap = Math.max(this.longestGap, now - this.#heardAt);
    this.#heardAt = now;
  }

  #close(): void {
    this.#client.close();
    this.#socket.close();
  }
}

function headersOf(key: string, place: Place): Record<string, string> {
  return { authorization: `Bearer ${key}`, ...placeHeaders(place) };
}
