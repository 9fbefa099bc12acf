/**
 * What operators ask of the edge, behind a key of their own: which clusters there are, who is on their
 * rosters, how many calls a tenant has, and that a cluster takes no new calls for a while. Without the secret ADMIN_KEY_HASH there is none of it.
 */
import { Hono } from 'hono';
import { problemResponse, unauthorized } from '../protocol/problem.ts';
import { isKeyOf } from './api-keys.ts';
import { listDrained, setDrained } from './drained.ts';
import { backgroundOf, footprintFor, rostersFor, type EdgeContext, type EdgeEnv } from './edge.ts';
import { footprint } from './footprint-reader.ts';
import { readTenant } from './tenants.ts';

export const admin = new Hono<EdgeEnv>();

admin.use(async (context, next) => {
  const hash = context.env.ADMIN_KEY_HASH;
  if (hash === undefined || !/^[0-9a-f]{64}$/.test(hash)) {
    const detail =
      'This edge has no admin key. Set the SHA-256 of one: wrangler secret put ADMIN_KEY_HASH';
    return problemResponse('not-found', detail);
  }
  const authorization = context.req.header('authorization') ?? '';
  const key = /^Bearer +([!-~]{1,256})$/i.exec(authorization)?.[1];
  if (key === undefined || !isKeyOf([hash], key)) {
    return unauthorized('Send the admin key as a Bearer token.', authorization);
  }
  context.res.headers.set('cache-control', 'no-store');
  return next();
});

/** Every cluster: its state as steering has it, whether it was drained here, and its roster. */
admin.get('/clusters', async (context) => {
  const { clusters } = await footprintFor(context);
  const drained = await listDrained(context.env.FOOTPRINT);
  const readRoster = rostersFor(context);
  const shown = clusters.map(async (own) => ({
    cluster: own.cluster,
    region: own.region,
    state: own.state,
    drained: drained.has(own.cluster),
    /** Null when it cannot be read now. */
    roster: await readRoster(own).catch(() => null),
  }));
  return context.json({ clusters: await Promise.all(shown) });
});

/** A tenant's limits, and how many calls it has now; null where there is no cap, for then they are not counted. */
admin.get('/tenants/:name', async (context) => {
  const name = context.req.param('name');
  const tenant = await readTenant(context.env.TENANTS, name, backgroundOf(context));
  if (!tenant) return problemResponse('not-found', `There is no tenant ${name.slice(0, 32)}.`);
  const { callsPerMinute, concurrentCalls = null } = tenant;
  const calls =
    concurrentCalls === null ? null : await context.env.TENANT_CALLS.getByName(name).count();
  return context.json({ tenant: name, callsPerMinute, concurrentCalls, calls });
});

admin.put('/clusters/:cluster/drain', (context) => change(context, true));
admin.delete('/clusters/:cluster/drain', (context) => change(context, false));

async function change(context: EdgeContext, isDrained: boolean): Promise<Response> {
  const name = context.req.param('cluster') ?? '';
  const { clusters } = await footprintFor(context);
  const known = clusters.find(({ cluster }) => String(cluster) === name);
  if (!known) {
    return problemResponse('not-found', `The footprint has no cluster ${name.slice(0, 32)}.`);
  }
  const { cluster, region } = known;
  const requestId = context.get('requestId');
  await setDrained(context.env.FOOTPRINT, cluster, isDrained, requestId);
  await footprint.renew(context.env.FOOTPRINT, backgroundOf(context));
  const message = isDrained ? 'a cluster was drained' : 'a cluster was put back';
  console.warn({ message, requestId, cluster, region });
  return context.json({ cluster, region, drained: isDrained });
}
