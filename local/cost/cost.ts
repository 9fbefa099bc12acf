/** What the footprint costs: for being there, and for the calls that go through it. */
import * as v from 'valibot';
import { Capacity } from '../../origin/config.ts';
import type { Region } from '../../protocol/footprint-region.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import { PRICES } from './prices.ts';

/** What pools are held at: the defaults of `scale` in terraform/variables.tf. */
export const SCALE = { relay_packets_per_second: 60_000, transceiver_percent: 60 };

/** A voice call in each direction. */
export const PACKETS_PER_SECOND = 50;
/** Bytes of 20 ms of Opus at 32 kbit/s, then of RTP, of the longest tag of SRTP, and of UDP and IPv4. */
const OPUS = 80;
const RTP = 12;
const SRTP_TAG = 16;
const UDP_IP = 28;
/** Bytes of a packet between client and relay, and between relay and transceiver when no frames are joined. */
export const PACKET_BYTES = OPUS + RTP + SRTP_TAG + UDP_IP;
export const TRUNK_PACKET_BYTES = PACKET_BYTES + TRUNK_HEADER_LENGTH;

/**
 * Bytes of 20 ms for a service of the OpenAI Realtime protocol: PCM of 24 kHz in base64, the JSON and the frame of
 * WebSocket around it, a record of TLS, and TCP and IPv4.
 */
const MODEL_PACKET_BYTES = 1_280 + 56 + 22 + 40;

/** Minutes of a call, and what it asks of the edge: to start, to add candidates, to end. */
const CALL_MINUTES = 5;
const REQUESTS_PER_CALL = 3;

const MILLION = 1_000_000;
const HOURS_PER_MONTH = 730;
const SECONDS_PER_HOUR = 3_600;
const BYTES_PER_GB = 1e9;
/** GB of a machine's disk, as terraform/modules/pool has it. */
const DISK_GB = 16;
/** GB that a Durable Object counts as. */
const OBJECT_GB = 0.128;

/** Parts in US dollars, by what they are for. */
export type Cost = Readonly<Record<string, number>>;

/** An instance type that has no price; the message says where to add it. */
export class CostError extends Error {
  override readonly name = 'CostError';
}

/** A month of a region whose pools are at their least. */
export function monthOf(region: Region): Cost {
  const { relay, transceiver, redis } = region;
  return {
    relays: relay.min * machineHour(relay.instance_type) * HOURS_PER_MONTH,
    transceivers: transceiver.min * machineHour(transceiver.instance_type) * HOURS_PER_MONTH,
    Redis: (1 + redis.replicas) * redisHour(redis.node_type) * HOURS_PER_MONTH,
    'load balancer': PRICES.loadBalancerHour * HOURS_PER_MONTH,
    // As if reports kept it awake all the time.
    roster: OBJECT_GB * PRICES.objectTime * SECONDS_PER_HOUR * HOURS_PER_MONTH,
    key: PRICES.keyMonth,
  };
}

/** A month of what regions share. */
export function sharedMonth(): Cost {
  return {
    accelerator: PRICES.acceleratorHour * HOURS_PER_MONTH,
    Workers: PRICES.workersMonth,
    zone: PRICES.zoneMonth,
  };
}

/**
 * A million minutes of Opus whose session is in the region that their client is near to, and of what a service of voice
 * elsewhere is sent of it.
 */
export function millionMinutesOf(region: Region): Cost {
  const { relay, transceiver, azs } = region;
  const packets = MILLION * 60 * PACKETS_PER_SECOND;
  const oneWay = (packets * PACKET_BYTES) / BYTES_PER_GB;
  const bothHops = (2 * packets * (PACKET_BYTES + TRUNK_PACKET_BYTES)) / BYTES_PER_GB;
  const sessionHours = MILLION / 60;
  const calls = 1 / CALL_MINUTES;
  return {
    'to the model': ((packets * MODEL_PACKET_BYTES) / BYTES_PER_GB) * PRICES.egressGB,
    'to clients': oneWay * PRICES.egressGB,
    accelerator: oneWay * PRICES.acceleratorGB,
    // From the load balancer to a relay and on to a transceiver, each in any zone.
    'between zones': bothHops * (1 - 1 / azs.length) * PRICES.zoneGB,
    'load balancer': 2 * oneWay * PRICES.loadBalancerGB,
    transceivers:
      (sessionHours / transceiverSessions(transceiver.instance_type)) *
      machineHour(transceiver.instance_type),
    relays: (sessionHours / RELAY_SESSIONS) * machineHour(relay.instance_type),
    edge: calls * REQUESTS_PER_CALL * (PRICES.workerRequests + PRICES.objectRequests),
  };
}

/** Sessions that a relay is held at: it receives what either side sends. */
export const RELAY_SESSIONS = SCALE.relay_packets_per_second / (2 * PACKETS_PER_SECOND);

/** Sessions that a machine of transceivers is held at. */
export function transceiverSessions(instanceType: string): number {
  const { processors } = typeOf(instanceType);
  return (processors * v.getDefault(Capacity) * SCALE.transceiver_percent) / 100;
}

/** Dollars. */
export function total(cost: Cost): number {
  return Object.values(cost).reduce((sum, part) => sum + part, 0);
}

function machineHour(instanceType: string): number {
  const { addressHour, metricsHour, diskMonth, processorHour } = PRICES;
  const disk = (DISK_GB * diskMonth) / HOURS_PER_MONTH;
  return priced(instanceType, processorHour) + addressHour + metricsHour + disk;
}

function redisHour(nodeType: string): number {
  return priced(nodeType.replace(/^cache\./, ''), PRICES.redisProcessorHour);
}

function priced(type: string, processorHour: Readonly<Record<string, number>>): number {
  const { family, processors } = typeOf(type);
  if (Object.hasOwn(processorHour, family)) return processors * processorHour[family]!;
  throw new CostError(`${type} has no price: add ${family} to local/cost/prices.ts.`);
}

/** Processors by the size in the name, as AWS has it for Graviton. @throws CostError */
function typeOf(type: string): { family: string; processors: number } {
  const found = /^([a-z0-9-]+)\.(medium|large|(\d*)xlarge)$/.exec(type);
  if (found === null) throw new CostError(`${type} is of a size that is not known here.`);
  const [, family = '', size, times] = found;
  if (size === 'medium') return { family, processors: 1 };
  return { family, processors: size === 'large' ? 2 : 4 * Number(times || '1') };
}
