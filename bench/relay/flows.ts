/** What the relay's own work costs, without any system call: of a packet, and of a flow. */
import { parseAddress } from '../../protocol/address.ts';
import { STUN_MAGIC_COOKIE } from '../../protocol/stun.ts';
import { TRUNK_DOWN, TRUNK_HEADER_LENGTH, setTrunkFlags } from '../../protocol/trunk.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { Counters, sumCounters } from '../../origin/relay/counters.ts';
import { BYTES_PER_FLOW, FLOW_LIMITS, flowMemory } from '../../origin/relay/flow-memory.ts';
import { FlowTable } from '../../origin/relay/flow-table.ts';
import { Forwarder } from '../../origin/relay/forwarder.ts';
import type { PacketSink } from '../../origin/relay/io.ts';
import { PacketBatch, TRUNK_SOCKET } from '../../origin/relay/packet-batch.ts';

export interface FlowCosts {
  readonly flows: number;
  /** Nanoseconds to make a flow and prove it: two packets. */
  readonly newFlow: number;
  /** Nanoseconds of a packet on its way up, of flows in no order. */
  readonly packet: number;
  /** Bytes of memory that a flow takes at most. */
  readonly bytesPerFlow: number;
  /** Megabytes that the process grew by, for all flows. */
  readonly grownMB: number;
}

const TRUNK = { address: '10.0.0.1', port: 4000 };
const PEER = parseAddress('10.0.0.2');
const KEY = { id: 'A', key: Buffer.alloc(16, 'bench') };
const HOUR = 3_600_000;

/** Flows that share a token. */
const FLOWS_PER_TOKEN = 64;
const BATCH = 64;
const RTP_LENGTH = 172;

/** Keeps the frame that went up, as the transceiver would. */
class Transceiver implements PacketSink {
  frame: Uint8Array = new Uint8Array();

  sendPublic(): void {}

  sendTrunk(data: Uint8Array, start: number, end: number): void {
    this.frame = data.subarray(start, end);
  }

  flush(): void {}
}

export function flowCosts(flows: number): FlowCosts {
  const before = process.memoryUsage.rss();
  const memory = flowMemory({ ...FLOW_LIMITS, maxFlows: Math.max(flows, FLOW_LIMITS.maxFlows) });
  const counters = new Counters();
  const transceiver = new Transceiver();
  const setup = {
    cluster: 1,
    listeners: [{ address: '192.0.2.1', port: 3478 }],
    trunk: TRUNK,
    peers: ['10.0.0.0/8'],
    routes: [],
    routingKeys: [KEY] as const,
    flows: memory,
  };
  const forwarder = new Forwarder({ ...setup, routingKeys: [KEY] }, transceiver, counters);
  forwarder.place(1, { address: PEER, port: 4000 });

  const codec = new UfragCodec([KEY]);
  const up = new PacketBatch(BATCH);
  const down = new PacketBatch(1);
  const route = { cluster: 1, transceiver: 1, expiresAt: Date.now() + HOUR };
  let check: Uint8Array = new Uint8Array();
  const start = cpuNanoseconds();
  for (let flow = 0; flow < flows; flow++) {
    if (flow % FLOWS_PER_TOKEN === 0) check = checkOf(codec.seal(route));
    up.count = 0;
    up.push(check, clientOf(flow), 4000, 0);
    forwarder.forward(up);
    down.count = 0;
    down.push(answerTo(transceiver.frame), PEER, 4000, TRUNK_SOCKET);
    forwarder.forward(down);
  }
  const newFlow = (cpuNanoseconds() - start) / flows;
  const proven = sumCounters([counters], new FlowTable(memory)).flows.proven;
  if (proven !== flows) throw new Error(`Only ${proven} of ${flows} flows were made.`);
  const grownMB = (process.memoryUsage.rss() - before) / 1e6;
  return {
    flows,
    newFlow,
    packet: packetCost(forwarder, flows),
    bytesPerFlow: BYTES_PER_FLOW,
    grownMB,
  };
}

function packetCost(forwarder: Forwarder, flows: number): number {
  const packet = Buffer.alloc(RTP_LENGTH, 0x80);
  const batches = Array.from({ length: 256 }, () => {
    const batch = new PacketBatch(BATCH, TRUNK_HEADER_LENGTH + RTP_LENGTH);
    while (!batch.full) batch.push(packet, clientOf(Math.floor(Math.random() * flows)), 4000, 0);
    return batch;
  });
  let best = Infinity;
  for (let round = 0; round < 20; round++) {
    const start = cpuNanoseconds();
    for (const batch of batches) forwarder.forward(batch);
    best = Math.min(best, (cpuNanoseconds() - start) / (batches.length * BATCH));
  }
  return best;
}

/** Each flow has an address of its own, as 198.18.0.0/15 and on. */
function clientOf(flow: number): Uint8Array {
  const address = new Uint8Array(16);
  address[10] = 0xff;
  address[11] = 0xff;
  new DataView(address.buffer).setUint32(12, 0xc6_12_00_00 + flow);
  return address;
}

function checkOf(ufrag: string): Buffer {
  const check = Buffer.alloc(20 + 4 + 28);
  check.writeUInt16BE(0x0001, 0);
  check.writeUInt16BE(check.length - 20, 2);
  check.writeUInt32BE(STUN_MAGIC_COOKIE, 4);
  check.writeUInt16BE(0x0006, 20);
  check.writeUInt16BE(28, 22);
  check.write(`${ufrag}:load`, 24, 'latin1');
  return check;
}

function answerTo(frame: Uint8Array): Buffer {
  const answer = Buffer.from(frame.subarray(0, TRUNK_HEADER_LENGTH + 20));
  setTrunkFlags(answer, 0, TRUNK_DOWN);
  answer.writeUInt16BE(20, 2);
  answer.writeUInt16BE(0x0101, TRUNK_HEADER_LENGTH);
  answer.writeUInt16BE(0, TRUNK_HEADER_LENGTH + 2);
  return answer;
}

/** Of the processor, since what else the machine does is no cost of the relay's. */
function cpuNanoseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}
