/**
 * A NAT before one address: each host inside sends to an address of its own, and has ports outside that may
 * become others at any time, or those of another host.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

/** What becomes of packets that still come to a port that was: they get in, or nowhere. */
export type OldPorts = 'open' | 'closed';

/** One socket of a host inside, and what it has outside. */
interface Mapping {
  readonly host: NatHost;
  readonly client: TrunkAddress;
  outside: Socket;
}

export class NatHost {
  readonly #inside: Socket;
  readonly #mappings: readonly Mapping[];

  /** @param mappings Of its sockets. */
  constructor(inside: Socket, mappings: readonly Mapping[]) {
    this.#inside = inside;
    this.#mappings = mappings;
  }

  /** Where it sends to. */
  get address(): TrunkAddress {
    return addressOf(this.#inside);
  }

  /** What its sockets have outside, the first that sent anything first. */
  get outside(): TrunkAddress[] {
    return this.#mappings.map(({ outside }) => addressOf(outside));
  }

  deliver(packet: Buffer, { port, address }: TrunkAddress): void {
    this.#inside.send(packet, port, address);
  }
}

export class Nat implements AsyncDisposable {
  readonly #to: TrunkAddress;
  readonly #insides: Socket[] = [];
  readonly #mappings: Mapping[] = [];
  /** Whose the open sockets outside are. */
  readonly #owners = new Map<Socket, Mapping>();
  #isOpen = true;

  /** @param to Where all that goes out goes to. */
  constructor(to: TrunkAddress) {
    this.#to = to;
  }

  async host(): Promise<NatHost> {
    const inside = createSocket('udp4').bind(0, LOOPBACK);
    this.#insides.push(inside);
    const mappings: Mapping[] = [];
    const host = new NatHost(inside, mappings);
    inside.on('message', (packet, { address, port }) => {
      let mapping = mappings.find((it) => isSame(it.client, { address, port }));
      if (!mapping) {
        mapping = this.#map(host, { address, port });
        mappings.push(mapping);
      }
      this.#goOut(mapping, packet);
    });
    await once(inside, 'listening');
    return host;
  }

  /** Gives every host other ports from now on, and of another of its addresses where one is given. */
  async rebind(oldPorts: OldPorts, address = LOOPBACK): Promise<void> {
    await Promise.all(
      this.#mappings.map(async (mapping) => {
        const before = mapping.outside;
        const next = this.#outside(address);
        await once(next, 'listening');
        this.#owners.set(next, mapping);
        mapping.outside = next;
        if (oldPorts === 'open') return;
        this.#owners.delete(before);
        before.close();
      }),
    );
  }

  /**
   * Every port of one host is the other's from now on, both ways.
   *
   * @throws Error when they have not equally many: one could go on by what it keeps.
   */
  swap(one: NatHost, other: NatHost): void {
    const [ones, others] = [one, other].map((host) =>
      this.#mappings.filter((it) => it.host === host),
    );
    if (ones!.length !== others!.length) {
      throw new Error(`One host has ${ones!.length} ports, and the other ${others!.length}.`);
    }
    for (const [i, a] of ones!.entries()) {
      const b = others![i]!;
      [a.outside, b.outside] = [b.outside, a.outside];
      this.#owners.set(a.outside, a).set(b.outside, b);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    const sockets = [...this.#insides, ...this.#owners.keys()];
    await Promise.all(sockets.map((it) => new Promise<void>((done) => void it.close(done))));
  }

  #map(host: NatHost, client: TrunkAddress): Mapping {
    const outside = this.#outside(LOOPBACK);
    const mapping = { host, client, outside };
    this.#owners.set(outside, mapping);
    this.#mappings.push(mapping);
    return mapping;
  }

  #outside(address: string): Socket {
    const socket = createSocket('udp4').bind(0, address);
    socket.on('message', (packet) => {
      const owner = this.#owners.get(socket);
      if (this.#isOpen && owner) owner.host.deliver(packet, owner.client);
    });
    return socket;
  }

  #goOut(mapping: Mapping, packet: Buffer): void {
    if (!this.#isOpen) return;
    mapping.outside.send(packet, this.#to.port, this.#to.address);
  }
}

function addressOf(socket: Socket): TrunkAddress {
  const { address, port } = socket.address();
  return { address, port };
}

function isSame(a: TrunkAddress, b: TrunkAddress): boolean {
  return a.port === b.port && a.address === b.address;
}
