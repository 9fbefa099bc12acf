/** A process that forwards batches of each kind of packet, and prints what each packet took of the heap. */
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from '../../../protocol/address.ts';
import { Counters } from '../counters.ts';
import { FLOW_LIMITS, flowMemory } from '../flow-memory.ts';
import { Forwarder } from '../forwarder.ts';
import { PacketBatch, TRUNK_SOCKET } from '../packet-batch.ts';
import { RTP, check, readFrames, replyTo, success } from './packets.ts';
import { HOUR, KEY, ufragFor } from './tokens.ts';

export interface Allocation {
  readonly kind: string;
  /** Of the heap, in the round that took least: what others took is of the runtime itself. */
  readonly bytesPerPacket: number;
  /** In all rounds. */
  readonly collections: number;
}

const BATCH = 64;
const BATCHES = 2_000;
const WARM_UP = 4_000;
const ROUNDS = 5;
const TRUNK = { address: '10.0.0.1', port: 4000 };
const TRANSCEIVER = parseAddress('10.0.0.2');
const CLIENTS = Array.from({ length: BATCH }, (_, i) => parseAddress(`198.18.0.${i}`));
const ID = Buffer.alloc(12, 7);

let sent: Uint8Array = new Uint8Array();
const sink = {
  sendPublic(): void {},
  sendTrunk(data: Uint8Array, start: number, end: number): void {
    if (keeps) sent = data.slice(start, end);
  },
  flush(): void {},
};
let keeps = true;

const forwarder = new Forwarder(
  {
    cluster: 1,
    listeners: [{ address: '192.0.2.1', port: 3478 }],
    trunk: TRUNK,
    peers: ['10.0.0.0/8'],
    routes: [],
    routingKeys: [KEY],
    // Checks that are never answered keep their flows for as long as this runs.
    flows: flowMemory({ ...FLOW_LIMITS, tentative: HOUR, idle: HOUR }),
  },
  sink,
  new Counters(),
);
forwarder.place(5, { address: TRANSCEIVER, port: TRUNK.port });

/** @param shift Of the clients' ports from one batch to the next. */
const kinds: { kind: string; batch: PacketBatch; shift: number }[] = [];

function fromClients(kind: string, packetOf: (i: number) => Uint8Array, port: number, shift = 0) {
  const batch = new PacketBatch(BATCH);
  for (const [i, client] of CLIENTS.entries()) batch.push(packetOf(i), client, port, 0);
  kinds.push({ kind, batch, shift });
  return batch;
}

const later = Date.now() + HOUR;
const tokens = CLIENTS.map(() => ufragFor(1, 5, later));
const foreign = { id: KEY.id, key: Buffer.alloc(16, 'foreign') };
const known = fromClients('known checks', (i) => check(tokens[i]!, ID), 1000);
const answers = new PacketBatch(BATCH);
for (const [i, client] of CLIENTS.entries()) {
  const one = new PacketBatch(1);
  one.push(known.bytes.slice(known.start[i], known.end[i]), client, 1000, 0);
  forwarder.forward(one);
  const [frame] = readFrames(Buffer.from(sent));
  answers.push(replyTo(frame!, success(ID)), TRANSCEIVER, TRUNK.port, TRUNK_SOCKET);
}
keeps = false;
forwarder.forward(answers);
kinds.push({ kind: 'answers', batch: answers, shift: 0 });
fromClients('media', () => RTP, 1000);
fromClients('media without a flow', () => RTP, 999);
fromClients('tentative checks', () => check(ufragFor(1, 5, later), ID), 1001);
fromClients('first checks', () => check(ufragFor(1, 5, later), ID), 2000, 1);
// Not the id that is answered, or the known tokens would be others' afterwards.
fromClients('candidate checks', () => check(ufragFor(1, 5, later), Buffer.alloc(12, 8)), 1000);
fromClients('forged checks', () => check(ufragFor(1, 5, later, foreign), ID), 1002);
fromClients(
  'checks of unknown keys',
  () => check(ufragFor(1, 5, later, { ...foreign, id: 'Z' })),
  1002,
);
fromClients('expired checks', () => check(ufragFor(1, 5, Date.now() - HOUR), ID), 1002);
fromClients('cut checks', () => check(tokens[0]!, ID).subarray(0, 40), 1002);
fromClients('noise', () => Buffer.alloc(100, 0xff), 1002);

let collections = 0;
const observer = new PerformanceObserver((list) => (collections += list.getEntries().length));
observer.observe({ entryTypes: ['gc'] });

function run({ batch, shift }: (typeof kinds)[number], batches: number): void {
  for (let n = 0; n < batches; n++) {
    forwarder.forward(batch);
    if (shift === 0) continue;
    for (let i = 0; i < BATCH; i++) batch.port[i]! += shift;
  }
}

// All kinds first, so that what is measured is code that has met them all.
for (const kind of kinds) run(kind, WARM_UP);
for (const kind of kinds) run(kind, WARM_UP);
const results: Allocation[] = [];
for (const one of kinds) {
  await sleep(1);
  collections = 0;
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.memoryUsage().heapUsed;
    run(one, BATCHES);
    least = Math.min(least, process.memoryUsage().heapUsed - before);
  }
  await sleep(1);
  results.push({ kind: one.kind, bytesPerPacket: least / (BATCHES * BATCH), collections });
}
process.stdout.write(JSON.stringify(results));
