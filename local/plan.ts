/** What every part of a local run is told: ports, keys, and the tables made from the region files. */
import { randomBytes } from 'node:crypto';
import type { RegionConfigInput } from '../origin/region-config.ts';
import {
  clusterRoutes,
  steeringTable,
  type Footprint,
  type SteeringTable,
  type TrunkAddress,
} from '../protocol/footprint.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { choosePorts, LOOPBACK, type PortWish } from './ports.ts';

/** The documented ports of a local run. A region's are ten apart, in the order of region ids. */
const USUAL_PORTS = {
  edge: 8787,
  tcpTrunk: 3477,
  relay: 3478,
  trunk: 3479,
  signaling: 3480,
  transceiver: 3481,
  admin: 9478,
};
const REGION_STRIDE = 10;

const LOOPBACK_NETWORKS = ['127.0.0.0/8'];

export interface PlanOptions {
  readonly footprint: Footprint;
  readonly ports: 'usual' | 'free';
  /** TCP port the edge must have; chosen like the others unless given. */
  readonly edgePort?: number | undefined;
  readonly logLevel: NonNullable<RegionConfigInput['logLevel']>;
  /** Where relays listen to clients; loopback unless given. */
  readonly relayAddress?: string | undefined;
  /** Text of `protocol/routing-keys.ts`; fresh for this run unless given. */
  readonly routingKeys?: string | undefined;
  /** Whether relays are processes of their own. */
  readonly relaysApart?: boolean | undefined;
  /** What speaks in calls. */
  readonly backend: NonNullable<RegionConfigInput['backend']>;
  /** How many transceivers a region gets. */
  transceiversOf(region: string): number;
}

export interface Plan {
  readonly edgePort: number;
  /** Text of `protocol/routing-keys.ts`. */
  readonly routingKeys: string;
  /** Base64 text of `protocol/signature.ts`, fresh for this run. */
  readonly signingKey: string;
  /** Text of `workers/client-secrets.ts`, fresh for this run. */
  readonly clientSecretKeys: string;
  readonly steering: SteeringTable;
  /** In the order of region ids. */
  readonly regions: readonly RegionConfigInput[];
  /** By service: for people, which of its documented ports were taken, and what stands in. */
  readonly moved: Readonly<Record<string, readonly string[]>>;
}

/** @throws Error when no port is free, the edge's cannot be had, or a key cannot be read. */
export async function planStack(options: PlanOptions): Promise<Plan> {
  const { footprint, relayAddress = LOOPBACK } = options;
  const names = Object.keys(footprint).toSorted((a, b) => footprint[a]!.id - footprint[b]!.id);
  const wished = wishes(names, options);
  const ports = await choosePorts(wished);
  const at = (key: string): TrunkAddress => ({ address: LOOPBACK, port: ports[key]! });
  const toClients = (key: string): TrunkAddress => ({ ...at(key), address: relayAddress });
  const trunks = Object.fromEntries(names.map((name) => [name, [at(`${name} trunk`)]]));
  const routes = clusterRoutes(footprint, trunks);
  const { routingKeys = `L:${randomBytes(16).toString('base64')}` } = options;
  parseRoutingKeys(routingKeys);
  const signingKey = randomBytes(32).toString('base64');
  const endpoints = names.map((name) => {
    const signaling = `http://${LOOPBACK}:${ports[`${name} signaling`]!}`;
    const udp = { ...toClients(`${name} relay`), transport: 'udp' as const };
    const tcp = { ...toClients(`${name} TCP relay`), transport: 'tcp' as const };
    return [name, { signaling, relays: [udp, tcp] }] as const;
  });
  return {
    edgePort: ports.edge!,
    routingKeys,
    signingKey,
    clientSecretKeys: `L:${randomBytes(32).toString('base64')}`,
    steering: steeringTable(footprint, Object.fromEntries(endpoints)),
    regions: names.map((name) => ({
      region: name,
      cluster: footprint[name]!.id,
      relay: {
        listeners: [toClients(`${name} relay`)],
        trunk: at(`${name} trunk`),
        tcp: { listeners: [toClients(`${name} TCP relay`)], trunk: at(`${name} TCP trunk`) },
      },
      peers: LOOPBACK_NETWORKS,
      routes: routes
        .filter(({ region }) => region !== name)
        .map(({ cluster, region, relays }) => ({ cluster, region, relays: [...relays] })),
      routingKeys,
      signingKey,
      signaling: at(`${name} signaling`),
      edge: `http://${LOOPBACK}:${ports.edge!}`,
      admin: at(`${name} admin`),
      relayAdmin: options.relaysApart ? urlOf(at(`${name} relay admin`)) : undefined,
      transceivers: transceiverIds(options.transceiversOf(name)).map((id) => ({
        id,
        trunk: at(`${name} transceiver ${id}`),
      })),
      backend: options.backend,
      logLevel: options.logLevel,
    })),
    moved: movedPorts(wished, ports),
  };
}

function movedPorts(
  wished: Readonly<Record<string, PortWish>>,
  ports: Readonly<Record<string, number>>,
): Record<string, string[]> {
  const moved: Record<string, string[]> = {};
  for (const [key, { wanted }] of Object.entries(wished)) {
    if (wanted === undefined || ports[key] === wanted) continue;
    const [service, ...part] = key.split(' ');
    const port = [...part, 'port'].join(' ');
    (moved[service!] ??= []).push(`${port} ${wanted} is taken; using ${ports[key]}`);
  }
  return moved;
}

function wishes(names: readonly string[], options: PlanOptions): Record<string, PortWish> {
  const wish = (protocol: PortWish['protocol'], usual: number): PortWish =>
    options.ports === 'usual' ? { protocol, wanted: usual } : { protocol };
  const { edgePort } = options;
  const all: Record<string, PortWish> = {
    edge:
      edgePort === undefined
        ? wish('tcp', USUAL_PORTS.edge)
        : { protocol: 'tcp', wanted: edgePort, required: true },
  };
  for (const name of names) {
    const base = REGION_STRIDE * (options.footprint[name]!.id - 1);
    all[`${name} relay`] = wish('udp', USUAL_PORTS.relay + base);
    all[`${name} trunk`] = wish('udp', USUAL_PORTS.trunk + base);
    all[`${name} TCP relay`] = wish('tcp', USUAL_PORTS.relay + base);
    all[`${name} TCP trunk`] = wish('udp', USUAL_PORTS.tcpTrunk + base);
    all[`${name} signaling`] = wish('tcp', USUAL_PORTS.signaling + base);
    all[`${name} admin`] = wish('tcp', USUAL_PORTS.admin + base);
    if (options.relaysApart) all[`${name} relay admin`] = { protocol: 'tcp' };
    for (const id of transceiverIds(options.transceiversOf(name))) {
      all[`${name} transceiver ${id}`] = wish('udp', USUAL_PORTS.transceiver + base + id - 1);
    }
  }
  return all;
}

function urlOf({ address, port }: TrunkAddress): string {
  return `http://${address}:${port}`;
}

function transceiverIds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
