/**
 * Fuzzes the way of a packet through a relay, from a received batch to what is sent. Whatever comes, the
 * relay does not throw, sends nothing but what came (see fuzz-sink.ts), counts every packet, and keeps
 * within its limits.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMappedIPv4, parseAddress } from '../../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH } from '../../../protocol/trunk.ts';
import { Counters, sumCounters, type RelayCounters } from '../counters.ts';
import { FLOW_LIMITS, flowMemory } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { Forwarder } from '../forwarder.ts';
import { steadyNow } from '../moment.ts';
import type { Hop } from '../next-hop.ts';
import { PacketBatch, TRUNK_SOCKET } from '../packet-batch.ts';
import { MAX_HELD } from '../recovery/held-packets.ts';
import { FuzzClient } from './fuzz-client.ts';
import { CLIENT_SEEDS, TRUNK_SEEDS } from './fuzz-seeds.ts';
import { FuzzSink, type FuzzWorld } from './fuzz-sink.ts';
import { FUZZ_TRUNK_LENGTH, FuzzTrunk } from './fuzz-trunk.ts';
import { HeldLedger } from './held-ledger.ts';
import { Random } from './random.ts';
import { HOUR, KEY, ufragFor } from './tokens.ts';

/** Small enough to be reached all the time. */
const LIMITS = {
  ...FLOW_LIMITS,
  maxFlows: 500,
  maxTentative: 200,
  maxTentativePerSource: 6,
  maxPerToken: 6,
  idle: 500,
  tentative: 200,
  tokenQuiet: 100,
};

const BATCH_SIZE = 64;
/** Batches between two looks at what must hold of the relay as a whole. */
const LOOK_INTERVAL = 64;
/** Answers to a relay that looks for flows, of which it waits for the eldest. */
const MAX_UNANSWERED = 64;

/** Milliseconds after which what should end counts as never ending. */
const NEVER = 10_000;

const SELF = hop('10.0.0.1', 4000);
const LISTENERS = [
  { address: '192.0.2.10', port: 3478 },
  { address: '2001:db8::10', port: 3478 },
];
const IPV4_LISTENERS = [true, false];
const TRANSCEIVERS = [hop('10.0.1.5', 4000), hop('10.0.1.6', 4001), hop('10.0.1.7', 4000)];
/** The ids that the transceivers have, in turn. */
const TRANSCEIVER_IDS = [5, 6];
const RELAYS = [
  { address: '10.0.2.1', port: 4000 },
  { address: '10.0.2.2', port: 4000 },
];
const STRANGERS = [hop('198.51.100.66', 4000), hop('10.0.9.9', 0), hop('2001:db8:66::1', 4000)];
const CLIENTS = 512;
const TOKENS_OF_A_KIND = 8;

export interface FuzzResult {
  readonly datagrams: number;
  readonly counters: RelayCounters;
  /** Bytes that the heap grew by from the middle of the run to its end, garbage left out. */
  readonly grown: number;
}

/**
 * @param datagrams At least as many are thrown at the relay.
 * @param seed 32 bits; the same one gives the same datagrams, though not the same moments.
 * @throws Error that tells what the relay did wrong.
 */
export function fuzzRelay(datagrams: number, seed: number): FuzzResult {
  const fuzzed = new FuzzedRelay(seed);
  let middle = 0;
  let count = 0;
  while (count < datagrams) {
    count += fuzzed.batch();
    if (middle === 0 && count >= datagrams / 2) middle = heapUsed();
  }
  fuzzed.finish();
  return { datagrams: count, counters: fuzzed.counters(), grown: heapUsed() - middle };
}

class FuzzedRelay {
  readonly #random: Random;
  readonly #client: FuzzClient;
  readonly #trunk: FuzzTrunk;
  readonly #clients: readonly Hop[];
  readonly #tokens: readonly string[] = tokens();
  readonly #packet = Buffer.alloc(FUZZ_TRUNK_LENGTH);
  readonly #batch = new PacketBatch(BATCH_SIZE);
  readonly #placed = new Map<number, Hop>();
  readonly #sink: FuzzSink;
  readonly #ledger = new HeldLedger();
  readonly #counters = new Counters();
  readonly #flows: FlowTable;
  readonly #forwarder: Forwarder;
  /** Headers of flows that the relay looks for. */
  readonly #asked: Uint8Array[] = [];
  #batches = 0;

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = random;
    this.#client = new FuzzClient(random, this.#tokens, CLIENT_SEEDS);
    this.#clients = Array.from({ length: CLIENTS }, (_, i) =>
      i % 4 === 3
        ? hop(`2001:db8:${(i >> 3).toString(16)}::${i.toString(16)}`, 1000 + i)
        : hop(`203.0.${113 + (i >> 8)}.${i & 0xff}`, 1000 + i),
    );
    this.#trunk = new FuzzTrunk({
      random,
      client: this.#client,
      clients: this.#clients,
      proxies: [SELF, SELF, ...RELAYS.map(({ address, port }) => hop(address, port)), ...STRANGERS],
      listeners: [0, 1, 2, 255],
      seeds: TRUNK_SEEDS,
    });
    const world: FuzzWorld = {
      self: SELF,
      ipv4Listeners: IPV4_LISTENERS,
      transceivers: this.#placed,
      relays: RELAYS.map(({ address, port }) => hop(address, port)),
      isPeer: (address, at) => isMappedIPv4(address, at) && address[at + 12] === 10,
    };
    this.#sink = new FuzzSink(world, this.#batch, this.#ledger, (frame, start, end) =>
      this.#trunk.remember(frame, start, end),
    );
    const memory = flowMemory(LIMITS);
    this.#flows = new FlowTable(memory);
    const setup = {
      cluster: 1,
      listeners: LISTENERS,
      trunk: { address: '10.0.0.1', port: 4000 },
      peers: ['10.0.0.0/8'],
      routes: [{ cluster: 2, region: 'eu-central-1', relays: RELAYS }],
      routingKeys: [KEY] as const,
      flows: memory,
    };
    this.#forwarder = new Forwarder(setup, this.#sink, this.#counters, (headers) =>
      this.#asked.push(headers),
    );
    for (const id of TRANSCEIVER_IDS) this.#place(id, TRANSCEIVERS[0]);
  }

  counters(): RelayCounters {
    return sumCounters([this.#counters], this.#flows);
  }

  /** Lets some datagrams come. @returns How many. */
  batch(): number {
    const random = this.#random;
    const batch = this.#batch;
    if (random.once(128)) this.#place(random.pick(TRANSCEIVER_IDS), random.pick(TRANSCEIVERS));
    if (random.once(512)) this.#place(random.pick(TRANSCEIVER_IDS), undefined);
    if (this.#asked.length > 0 && random.once(4)) this.#settle();
    batch.count = 0;
    for (let left = 1 + random.below(BATCH_SIZE); left > 0; left--) {
      if (random.once(3)) this.#receiveTrunk();
      else this.#receivePublic();
    }
    this.#sink.expect(batch);
    this.#forwarder.forward(batch);
    this.#ledger.add(batch);
    if (++this.#batches % LOOK_INTERVAL === 0) this.look();
    return batch.count;
  }

  /** Lets no more come. @throws Error when the relay keeps anything for good. */
  finish(): void {
    const end = performance.now() + NEVER;
    this.#batch.count = 0;
    for (let held = 1, flows = 1; held + flows > 0;) {
      this.#sink.expect(this.#batch);
      this.#forwarder.forward(this.#batch);
      ({ held, flows } = this.look());
      if (performance.now() > end) throw new Error(`${held} packets and ${flows} flows stay`);
    }
  }

  /** @throws Error when the relay does not count every packet, or keeps more than it may. */
  look(): { held: number; flows: number } {
    this.#flows.expire(steadyNow());
    const { fromClients, fromTrunk, toClients, toTrunk, drops, flows, createdFlows, tokenChecks } =
      this.counters();
    const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0);
    // These are no packets: nothing of the datagram could be read.
    const unread = drops['foreign-peer'] + drops['malformed-trunk'];
    const sent = toClients.packets + toTrunk.packets;
    const held = fromClients.packets + fromTrunk.packets - sent - (dropped - unread);
    if (sent !== this.#sink.sent) throw new Error(`${sent} counted, ${this.#sink.sent} sent`);
    if (held < 0 || held > MAX_HELD) throw new Error(`${held} packets are neither here nor there`);
    if (flows.tentative > LIMITS.maxTentative)
      throw new Error(`${flows.tentative} tentative flows`);
    const opened = tokenChecks.reduce(
      (sum, { result, count }) => sum + (result === 'ok' ? count : 0),
      0,
    );
    if (createdFlows.stun > opened)
      throw new Error(`${createdFlows.stun} flows of ${opened} tokens`);
    const count = flows.tentative + flows.proven;
    if (count > LIMITS.maxFlows) throw new Error(`${count} flows`);
    return { held, flows: count };
  }

  #receivePublic(): void {
    const random = this.#random;
    const length = this.#client.write(this.#packet, 0);
    const index = random.skewed(CLIENTS);
    const { address, port } = this.#clients[index]!;
    const from = random.once(8) ? random.below(65_536) : port + random.skewed(8);
    const listener = isMappedIPv4(address) ? 0 : 1;
    this.#push(length, address, from, listener);
  }

  #receiveTrunk(): void {
    const random = this.#random;
    const length = this.#trunk.write(this.#packet);
    const { address, port } = random.pick(random.once(16) ? STRANGERS : TRANSCEIVERS);
    this.#push(length, address, port, TRUNK_SOCKET);
  }

  #push(length: number, address: Uint8Array, port: number, socket: number): void {
    if (!this.#batch.push(this.#packet.subarray(0, length), address, port, socket)) {
      throw new Error(`made a datagram of ${length} bytes, which no socket gives`);
    }
  }

  #place(id: number, at: Hop | undefined): void {
    if (at) this.#placed.set(id, at);
    else this.#placed.delete(id);
    this.#forwarder.place(id, at);
  }

  /** The eldest of the flows that were asked for are found, or not, or nobody ever answers. */
  #settle(): void {
    const random = this.#random;
    const headers = this.#asked.shift()!;
    while (this.#asked.length > MAX_UNANSWERED) this.#asked.shift();
    if (random.once(4)) return;
    for (let at = 0; at < headers.length; at += TRUNK_HEADER_LENGTH) {
      if (random.once(2)) continue;
      const route = { cluster: 1, transceiver: 5, expiresAt: Date.now() + HOUR };
      const token = Buffer.from(random.pick(this.#tokens).padEnd(23));
      this.#flows.restore(headers, at, route, token, steadyNow());
    }
    this.#forwarder.settle(headers);
  }
}

/** Good ones of all kinds, and those that lead nowhere. */
function tokens(): string[] {
  const expired = Date.now() - HOUR;
  const foreign = { id: KEY.id, key: Buffer.alloc(16, 'foreign') };
  const unknown = { id: 'Z', key: KEY.key };
  return Array.from({ length: TOKENS_OF_A_KIND }, () => [
    ufragFor(1, 5),
    ufragFor(1, 5),
    ufragFor(1, 6),
    ufragFor(1, 6),
    ufragFor(2, 5),
    ufragFor(1, 9),
    ufragFor(3, 5),
    ufragFor(1, 5, expired),
    ufragFor(1, 5, undefined, foreign),
    ufragFor(1, 5, undefined, unknown),
  ]).flat();
}

function hop(address: string, port: number): Hop {
  return { address: parseAddress(address), port };
}

const collect: unknown = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
})();

/** Bytes, garbage left out. */
function heapUsed(): number {
  if (typeof collect === 'function') collect();
  const { heapUsed: heap, external } = process.memoryUsage();
  return heap + external;
}
