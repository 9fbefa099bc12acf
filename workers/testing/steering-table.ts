/** A steering table of three regions, as the edge's tests need it. */
import type { SteeringCluster, SteeringTable } from '../../protocol/footprint.ts';

/** Signaling that nobody answers: port 9 is discard, and closed. */
const NOWHERE = 'http://127.0.0.1:9';

const CLUSTERS: readonly SteeringCluster[] = [
  {
    cluster: 1,
    region: 'us-east-1',
    state: 'active',
    latitude: 38.95,
    longitude: -77.45,
    countries: ['US', 'CA'],
    continents: ['NA', 'SA'],
    failover: [2],
    signaling: NOWHERE,
    relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' }],
  },
  {
    cluster: 2,
    region: 'eu-central-1',
    state: 'active',
    latitude: 50.11,
    longitude: 8.68,
    countries: ['DE', 'FR'],
    continents: ['EU', 'AF'],
    failover: [1],
    signaling: NOWHERE,
    relays: [{ address: '192.0.2.2', port: 3478, transport: 'udp' }],
  },
  {
    cluster: 3,
    region: 'ap-northeast-1',
    state: 'active',
    latitude: 35.68,
    longitude: 139.69,
    countries: ['JP', 'AU'],
    continents: ['AS', 'OC'],
    failover: [1],
    signaling: NOWHERE,
    relays: [{ address: '192.0.2.3', port: 3478, transport: 'udp' }],
  },
];

/** @param changes By cluster id, what differs from three active regions. */
export function testTable(
  changes: Readonly<Record<number, Partial<SteeringCluster>>> = {},
): SteeringTable {
  return {
    version: 1,
    clusters: CLUSTERS.map((own) => Object.assign({}, own, changes[own.cluster])),
  };
}

/** An active cluster there that claims nothing, with a relay of its own. */
export function clusterAt(
  cluster: number,
  region: string,
  latitude: number,
  longitude: number,
  more: Partial<SteeringCluster> = {},
): SteeringCluster {
  return {
    cluster,
    region,
    state: 'active',
    latitude,
    longitude,
    countries: [],
    continents: [],
    failover: [],
    signaling: NOWHERE,
    relays: [{ address: `192.0.2.${cluster}`, port: 3478, transport: 'udp' }],
    ...more,
  };
}
