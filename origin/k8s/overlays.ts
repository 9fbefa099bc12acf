/**
 * `npm run k8s`: writes an overlay of kustomize for each region, out of
 * nothing but the region files. Addresses follow from a region's network: its trunk is at .255.254.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { Region } from '../../protocol/footprint-region.ts';
import {
  clusterRoutes,
  FootprintError,
  type ClusterRoute,
  type Footprint,
  type TrunkAddress,
} from '../../protocol/footprint.ts';
import { parseCommandLine, runProgram } from '../command-line.ts';
import { readFootprint } from '../footprint-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BASE = fileURLToPath(new URL('base', import.meta.url));

/** Where overlays go unless told otherwise; no part of the repository. */
const DEFAULT_OUT = join(ROOT, 'dist/k8s');

const TRUNK_PORT = 3479;

/** Host part of the address of a region's trunk; the last of its network. */
const TRUNK_HOST = '255.254';

const NAMESPACE = 'global-relay';

const HELP = `Writes an overlay of kustomize for each region, and prints the command that applies it.

  npm run k8s                     write them to dist/k8s
  npm run k8s -- --out DIR        write them to this folder
  npm run k8s -- --regions DIR    take these region files
  npm run k8s -- --help           print this`;

/** The address that a region's relays have in common for those of other regions. */
export function trunkOf({ cidr }: Region): TrunkAddress {
  return { address: cidr.replace(/0\.0\/16$/, TRUNK_HOST), port: TRUNK_PORT };
}

/**
 * @param base Path of the base from the folder that the overlay is in.
 * @returns The text of each region's kustomization.yaml, by name; none of a planned one.
 */
export function overlays(footprint: Footprint, base: string): Record<string, string> {
  const regions = Object.entries(footprint).filter(([, { state }]) => state !== 'planned');
  const trunks = regions.map(([name, region]) => [name, [trunkOf(region)]] as const);
  const routes = clusterRoutes(footprint, Object.fromEntries(trunks));
  const peers = regions.map(([, { cidr }]) => cidr).toSorted();
  const texts = regions.map(([name, region]) => {
    const others = routes.filter((route) => route.region !== name);
    return [name, stringify(overlay(name, region, { base, peers, routes: others }))] as const;
  });
  return Object.fromEntries(texts);
}

interface Surroundings {
  readonly base: string;
  readonly peers: readonly string[];
  /** To the other regions. */
  readonly routes: readonly ClusterRoute[];
}

function overlay(name: string, region: Region, { base, peers, routes }: Surroundings): object {
  const { id, cidr, transceiver } = region;
  const trunk = trunkOf(region).address;
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: NAMESPACE,
    resources: [base],
    labels: [{ pairs: { 'global-relay/region': name } }],
    // Its name changes with what is in it, so a region that is added comes to every relay.
    configMapGenerator: [
      {
        name: 'footprint',
        literals: [
          `cluster=${id}`,
          `network=${cidr}`,
          `peers=${JSON.stringify(peers)}`,
          `routes=${JSON.stringify(routes)}`,
        ],
      },
    ],
    patches: [
      replacements('Service', 'relay-trunk', {
        '/metadata/annotations': {
          'lbipam.cilium.io/ips': trunk,
          'metallb.io/loadBalancerIPs': trunk,
        },
      }),
      replacements('HorizontalPodAutoscaler', 'transceiver', {
        // Without a feature gate no autoscaler goes down to none.
        '/spec/minReplicas': Math.max(1, transceiver.min),
        '/spec/maxReplicas': Math.max(1, transceiver.max),
      }),
      replacements('NetworkPolicy', 'transceiver', {
        '/spec/ingress/0/from/0/ipBlock/cidr': cidr,
        '/spec/egress/0/to/0/ipBlock/cidr': cidr,
      }),
    ],
  };
}

function replacements(kind: string, name: string, values: Readonly<Record<string, unknown>>) {
  const operations = Object.entries(values).map(([path, value]) => ({ op: 'add', path, value }));
  return { target: { kind, name }, patch: JSON.stringify(operations) };
}

async function writeOverlays(regions: string, out: string): Promise<void> {
  const footprint = await readFootprint(regions);
  const base = relative(join(resolve(out), 'region'), BASE);
  for (const [name, text] of Object.entries(overlays(footprint, base))) {
    const folder = join(out, name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'kustomization.yaml'), text);
    console.log(`kubectl apply --kustomize ${relative(process.cwd(), folder)}`);
  }
}

if (import.meta.main) {
  await runProgram(HELP, readOptions, async ({ regions, out }) => {
    try {
      await writeOverlays(regions, out);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      console.error(
        error instanceof FootprintError ? error.message : `No overlays: ${error.message}`,
      );
      process.exitCode = 1;
    }
  });
}

function readOptions(args: readonly string[]): { regions: string; out: string } | undefined {
  const { help, ...options } = parseCommandLine({
    args: [...args],
    options: {
      regions: { type: 'string', default: join(ROOT, 'regions') },
      out: { type: 'string', default: DEFAULT_OUT },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
  return help ? undefined : options;
}
