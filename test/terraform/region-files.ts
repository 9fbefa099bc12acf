/** Region files for tests: those of this repository, and more like them. */
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { REGION_YAML } from '../../origin/footprint-files.ts';
import type { Region } from '../../protocol/footprint-region.ts';

const REGIONS = new URL('../../regions/', import.meta.url);

export type Regions = Readonly<Record<string, Region>>;

/** The files of regions/, parsed. */
export async function realRegions(): Promise<Regions> {
  const files = (await readdir(REGIONS)).filter((file) => file.endsWith('.yaml'));
  const regions = files.map(async (file) => {
    const region: Region = parse(await readFile(new URL(file, REGIONS), 'utf8'), REGION_YAML);
    return [file.replace('.yaml', ''), region] as const;
  });
  return Object.fromEntries(await Promise.all(regions));
}

/** A region that fits beside any of ids and networks below it. */
export function regionLike(name: string, id: number): Region {
  const pool = { instance_type: 'c7g.large', min: 2, max: 6 };
  return {
    id,
    state: 'active',
    cidr: `10.${id}.0.0/16`,
    azs: [`${name}a`, `${name}b`],
    geo: { latitude: id, longitude: -id },
    failover: [],
    relay: pool,
    transceiver: pool,
    redis: { node_type: 'cache.r7g.large', replicas: 1 },
  };
}
