import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { applyPlan, planChanges, resourcesIn, type Changes } from './changes.ts';
import { houseFaults } from './house-rules.ts';
import { Project, SECRETS } from './project.ts';
import { realRegions, regionLike, type Regions } from './region-files.ts';
import { readSlice } from './slice-schemas.ts';

const NEW = 'eu-west-1';
const NOTHING: Changes = { created: [], updated: [], replaced: [], destroyed: [] };
/** Minutes in which a starved machine plans and applies some hundred resources. */
const PATIENCE = 300_000;

/** Asks Cloudflare for a tunnel's token and stores it in its region, under the region's key. */
const STORE_TOKEN =
  /^curl .*Bearer \$CLOUDFLARE_API_TOKEN" https:\S+\/cfd_tunnel\/\S+\/token \| jq .* \| xargs aws ssm put-parameter --region (?<region>\S+) --key-id \S+ --name \S+\/tunnel-token .*--overwrite --value$/;

/** What a region that comes or goes changes in place: the tables, and what other regions let in. */
const TABLES = [
  /^module\.edge\.cloudflare_workers_kv\.steering: value$/,
  /^module\.region\["[a-z0-9-]+"\]\.aws_ssm_parameter\.shared\["(peers|routes)"\]: value, version$/,
  /^module\.region\["[a-z0-9-]+"\]\.aws_ec2_managed_prefix_list\.peers: entry$/,
];
/** What a region changes that takes no new sessions, or takes them again. */
const DRAIN = [
  /^module\.edge\.cloudflare_workers_kv\.steering: value$/,
  new RegExp(
    `^module\\.anycast\\.aws_globalaccelerator_endpoint_group\\.this\\["${NEW} (TCP|UDP)"\\]: traffic_dial_percentage$`,
  ),
];

describeWith(TERRAFORM, 'the footprint in the clouds', () => {
  let project: Project;
  let regions: Regions;
  let first: Changes;
  let added: Changes;

  beforeAll(async () => {
    regions = await realRegions();
    project = await Project.create();
    first = await planChanges(project);
    await applyPlan(project);
  }, PATIENCE);
  afterAll(() => project[Symbol.asyncDispose]());

  test('keeps the house rules in every resource', async () => {
    const resources = await resourcesIn(project);
    expect(resources).toHaveLength(first.created.length);
    expect(houseFaults(resources, (await readSlice('aws')).resource_schemas)).toEqual([]);
  });

  test('keeps no secret in the state', async () => {
    const state = await project.mustRun('state', 'pull');
    expect(state).toContain('voice.example.com');
    const found = Object.entries(SECRETS).filter(([, secret]) =>
      state.includes(JSON.stringify(secret).slice(1, -1)),
    );
    expect(found.map(([name]) => name)).toEqual([]);
  });

  test('tells of each region how its tunnel gets its token', async () => {
    const lines = await project.mustRun('output', '-raw', 'tunnel_token_commands');
    const stored = lines
      .trimEnd()
      .split('\n')
      .map((line) => STORE_TOKEN.exec(line)?.groups?.region ?? line);
    expect(stored.toSorted()).toEqual(Object.keys(regions).toSorted());
  });

  test('changes no more once it is built', { timeout: PATIENCE }, async () => {
    expect(first).toEqual({ ...NOTHING, created: first.created });
    expect(await planChanges(project)).toEqual(NOTHING);
  });

  test(
    'has nothing of a planned region but its line in the steering table',
    { timeout: PATIENCE },
    async () => {
      await project.writeRegion(NEW, { ...regionLike(NEW, 4), state: 'planned' });
      const { updated, ...others } = await planChanges(project);
      expect({ updated: [], ...others }).toEqual(NOTHING);
      expect(unlike(updated, DRAIN)).toEqual([]);
    },
  );

  test('gets a region by one file, which takes nothing away', { timeout: PATIENCE }, async () => {
    await project.writeRegion(NEW, regionLike(NEW, 4));
    added = await planChanges(project);
    expect(added.created.filter((address) => !address.includes(NEW))).toEqual([]);
    expect(added.created.length).toBeGreaterThan(50);
    expect(unlike(added.updated, TABLES)).toEqual([]);
    expect(added.updated).toHaveLength(1 + 3 * Object.keys(regions).length);
    expect({ ...added, created: [], updated: [] }).toEqual(NOTHING);
    await applyPlan(project);
  });

  test('drains a region in place, and undrains it', { timeout: PATIENCE }, async () => {
    await project.writeRegion(NEW, { ...regionLike(NEW, 4), state: 'draining' });
    const drained = await planChanges(project);
    expect(unlike(drained.updated, DRAIN)).toEqual([]);
    expect(drained).toEqual({ ...NOTHING, updated: drained.updated });
    expect(drained.updated).toHaveLength(3);
    await applyPlan(project);
    await project.writeRegion(NEW, regionLike(NEW, 4));
    expect(await planChanges(project)).toEqual(drained);
  });

  test('loses a drained region, and nothing else', { timeout: PATIENCE }, async () => {
    await project.removeRegion(NEW);
    const removed = await planChanges(project);
    expect(removed.destroyed.toSorted()).toEqual(added.created.toSorted());
    expect(unlike(removed.updated, TABLES)).toEqual([]);
    expect({ ...removed, updated: [], destroyed: [] }).toEqual(NOTHING);
  });

  test('grows by a zone without moving another', { timeout: PATIENCE }, async () => {
    const [name, region] = Object.entries(regions)[0]!;
    await project.writeRegion(NEW, { ...regionLike(NEW, 4), state: 'draining' });
    await project.writeRegion(name, { ...region, azs: [...region.azs, `${name}d`] });
    const { created, updated, replaced, destroyed } = await planChanges(project);
    expect(created.filter((address) => !address.includes(`${name}d`))).toEqual([]);
    expect({ replaced, destroyed }).toEqual({ replaced: [], destroyed: [] });
    expect(
      updated.filter((address) => address.includes('"]') && /aws_(subnet|vpc)\b/.test(address)),
    ).toEqual([]);
  });
});

function unlike(lines: readonly string[], allowed: readonly RegExp[]): string[] {
  return lines.filter((line) => !allowed.some((pattern) => pattern.test(line)));
}
