/** What an apply of the footprint will change, in words, from one state of the region files to another. */
import type { Region } from '../../protocol/footprint-region.ts';
import type { Footprint } from '../../protocol/footprint.ts';

/** A whole mesh of peerings has so many regions at most; more want a transit network. */
const MESH_REGIONS = 15;

/** Two of an accelerator's 42 endpoint groups are a region's, and AWS raises no quota of these. */
const ACCELERATOR_REGIONS = 21;

export interface Changes {
  /** Lines for people: each region that changes with what comes of it, then what comes of it for all. */
  readonly lines: readonly string[];
  /** Why it must not be applied as it is, and what to do first. */
  readonly refusals: readonly string[];
}

export function changesOf(before: Footprint, after: Footprint): Changes {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const lines = names.flatMap((name) => regionLines(name, before[name], after));
  const refusals = names.flatMap((name) =>
    [removalRefusals, zoneRefusals, fixedRefusals].flatMap((refusalsOf) =>
      refusalsOf(name, before[name], after[name]),
    ),
  );
  if (lines.length === 0) return { lines: ['Nothing changes.'], refusals };
  return { lines: [...lines, ...shared(before, after)], refusals };
}

function regionLines(name: string, old: Region | undefined, after: Footprint): string[] {
  const now = after[name];
  if (isBuilt(now) && !isBuilt(old)) return added(name, now, after);
  if (isBuilt(old) && !isBuilt(now)) return removed(name, old, after);
  if (old === undefined && now !== undefined) {
    return [`${name} is listed as cluster ${now.id}, planned: nothing is built.`];
  }
  if (old === undefined) return [];
  if (now === undefined) return [`${name} goes, which was planned: nothing was built.`];
  const changed = fieldChanges(old, now);
  const what = isBuilt(now) ? 'changes' : 'changes, and nothing of it is built';
  return changed.length > 0 ? [`${name} ${what}:`, ...changed.map(indent)] : [];
}

function isBuilt(region: Region | undefined): region is Region {
  return region !== undefined && region.state !== 'planned';
}

function builtOf(footprint: Footprint): string[] {
  return Object.keys(footprint).filter((name) => isBuilt(footprint[name]));
}

function added(name: string, region: Region, after: Footprint): string[] {
  const { id, cidr, azs, relay, transceiver, redis, state } = region;
  const others = builtOf(after).filter((other) => other !== name);
  return [
    `${name} is new, as cluster ${id}, ${state}. Created there, and nothing destroyed:`,
    ...[
      `network ${cidr} with subnets in ${azs.join(' and ')}, its gateways, routes, security groups and flow log`,
      `load balancer for UDP and TCP 3478, and its endpoint group at the accelerator`,
      `relays: ${poolText(relay)}, with roles, scaling, alarms and log group`,
      `transceivers: ${poolText(transceiver)}, with the same`,
      `Redis: 1 ${redis.node_type} with ${count(redis.replicas, 'replica')}`,
      `tunnel and DNS name for its signaling`,
      ...(others.length > 0
        ? [`${count(others.length, 'peering')}: with ${others.join(', ')}`]
        : []),
    ].map(indent),
  ];
}

function removed(name: string, region: Region, after: Footprint): string[] {
  const others = builtOf(after);
  return [
    `${name} goes, which was ${region.state}. Destroyed:`,
    ...[
      'all that is in its network, and the network',
      'its endpoint group, tunnel and DNS name',
      ...(others.length > 0 ? [count(others.length, 'peering')] : []),
      'When the network stays because of a security group named GlobalAccelerator, delete that by hand.',
    ].map(indent),
  ];
}

function removalRefusals(name: string, old: Region | undefined, now: Region | undefined): string[] {
  return old?.state !== 'active' || isBuilt(now) ? [] : [removalRefusal(name)];
}

/** Why an active region cannot be removed. */
export function removalRefusal(name: string): string {
  return `regions/${name}.yaml: an active region must not go. Give it state: draining, apply, wait until its last call has ended, and then: npm run region -- remove ${name}. If nothing of it was ever built, delete its file and its line in regions/ledger.json, take it out of every failover, and commit that.`;
}

/** Subnets of a zone go with it, and with them the machines there. */
function zoneRefusals(name: string, old: Region | undefined, now: Region | undefined): string[] {
  if (old?.state !== 'active' || !isBuilt(now)) return [];
  const gone = old.azs.filter((zone) => !now.azs.includes(zone));
  return gone.map(
    (zone) =>
      `regions/${name}.yaml: azs: ${zone} must not leave an active region. Give it state: draining, apply, wait until its last call has ended, and then remove the zone.`,
  );
}

function fixedRefusals(name: string, old: Region | undefined, now: Region | undefined): string[] {
  if (old === undefined || now === undefined) return [];
  return (['id', 'cidr'] as const)
    .filter((field) => old[field] !== now[field])
    .map(
      (field) =>
        `regions/${name}.yaml: ${field} must stay ${old[field]}, for it never changes. Add another region instead.`,
    );
}

const STATE_CHANGES: Readonly<Record<Region['state'], string>> = {
  planned: 'nothing of it is built',
  active: 'it gets new calls, and the accelerator sends it the clients near by',
  draining:
    'it gets no new calls and the accelerator sends it no new clients; calls that are there go on',
};

function fieldChanges(old: Region, now: Region): string[] {
  const lines: string[] = [];
  if (old.state !== now.state) {
    lines.push(`state ${old.state} to ${now.state}: ${STATE_CHANGES[now.state]}; in place`);
  }
  for (const pool of ['relay', 'transceiver'] as const) {
    lines.push(...poolChanges(pool, old[pool], now[pool]));
  }
  lines.push(...redisChanges(old.redis, now.redis));
  if (!same(old.azs, now.azs)) {
    lines.push(`azs ${old.azs.join(', ')} to ${now.azs.join(', ')}: ${zoneText(old, now)}`);
  }
  if (!same(old.geo, now.geo)) lines.push('geo: the edge steers by it; in place');
  if (!same(old.failover, now.failover)) {
    lines.push(`failover to ${now.failover.join(', ') || 'the nearest'}: steering alone; in place`);
  }
  return lines;
}

function poolChanges(pool: string, old: Region['relay'], now: Region['relay']): string[] {
  const lines: string[] = [];
  if (old.instance_type !== now.instance_type) {
    lines.push(
      `${pool} ${old.instance_type} to ${now.instance_type}: machines are replaced a few at a time, and each drains`,
    );
  }
  if (old.min !== now.min || old.max !== now.max) {
    lines.push(`${pool} pool ${old.min}-${old.max} to ${now.min}-${now.max}; in place`);
  }
  return lines;
}

function redisChanges(old: Region['redis'], now: Region['redis']): string[] {
  const lines: string[] = [];
  if (old.node_type !== now.node_type) {
    lines.push(
      `redis ${old.node_type} to ${now.node_type}; in place, with a fail-over that media does not feel`,
    );
  }
  if (old.replicas !== now.replicas) {
    lines.push(`redis replicas ${old.replicas} to ${now.replicas}; in place`);
  }
  return lines;
}

function zoneText(old: Region, now: Region): string {
  const gone = old.azs.filter((zone) => !now.azs.includes(zone));
  if (gone.length === 0) return 'subnets there are created';
  return `subnets in ${gone.join(' and ')} are destroyed and machines there replaced: drain the region first`;
}

/** What regions that stay as they are see of it. */
function shared(before: Footprint, after: Footprint): string[] {
  const lines = ['the steering table of the edge (KV); the Worker is not deployed anew'];
  const built = builtOf(after);
  if (!same(built.toSorted(), builtOf(before).toSorted())) {
    lines.push(
      'routes, peers and security groups of every other region; relays take them up in a minute',
    );
  }
  const regions = built.length;
  const notes = [
    ...(regions > MESH_REGIONS
      ? [
          `With ${regions} regions each peers with ${regions - 1} others: past ${MESH_REGIONS} use a transit network.`,
        ]
      : []),
    ...(regions > ACCELERATOR_REGIONS
      ? [
          `The accelerator has room for ${ACCELERATOR_REGIONS} regions: an apply of ${regions} would fail there.`,
        ]
      : []),
  ];
  return ['Updated in place for all:', ...lines.map(indent), ...notes];
}

function poolText({ instance_type, min, max }: Region['relay']): string {
  return `${min} to ${max} ${instance_type}`;
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

function indent(line: string): string {
  return `  ${line}`;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
