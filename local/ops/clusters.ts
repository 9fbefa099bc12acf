/** Clusters in words, by the region files. */
import { fileURLToPath } from 'node:url';
import type { Footprint } from '../../protocol/footprint.ts';
import type { Region } from '../../protocol/footprint-region.ts';
import { AWS_REGIONS } from '../region/aws-regions.ts';

/** The project's own region files. */
export const REGIONS_DIR = fileURLToPath(new URL('../../regions', import.meta.url));

export interface ClusterRegion {
  readonly name: string;
  readonly state: Region['state'];
}

/** Undefined when no region file has that id. */
export function regionOf(footprint: Footprint, cluster: number): ClusterRegion | undefined {
  const found = Object.entries(footprint).find(([, { id }]) => id === cluster);
  return found && { name: found[0], state: found[1].state };
}

/** A cluster for people. */
export function describeCluster(cluster: number, region: ClusterRegion | undefined): string {
  if (!region) return `${cluster}, which no region file has as its id`;
  const place = AWS_REGIONS[region.name]?.place;
  const named = place === undefined ? region.name : `${region.name} (${place})`;
  return `${cluster}, ${named}, ${region.state}`;
}
