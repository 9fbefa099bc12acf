/** What `GET /v1/where` answers with; the description of the interface is made out of it. */
import * as v from 'valibot';
import { RegionNameSchema } from '../protocol/footprint-region.ts';

const Cluster = { region: RegionNameSchema, cluster: v.pipe(v.number(), v.integer()) };

const Latitude = v.pipe(v.number(), v.minValue(-90), v.maxValue(90));
const Longitude = v.pipe(v.number(), v.minValue(-180), v.maxValue(180));

const Relay = v.strictObject({
  address: v.string(),
  port: v.pipe(v.number(), v.integer()),
  transport: v.picklist(['udp', 'tcp']),
});

export const WhereSchema = v.strictObject({
  colo: v.pipe(v.nullable(v.string()), v.description('Cloudflare’s data center that answers.')),
  region: v.pipe(
    v.nullable(RegionNameSchema),
    v.description(
      'Region of the first cluster that takes a call from here now; null when none does. Others may share its calls.',
    ),
  ),
  cluster: v.pipe(v.nullable(Cluster.cluster), v.description('Its id.')),
  ingress: v.pipe(
    v.nullable(v.strictObject({ region: RegionNameSchema, relays: v.array(Relay) })),
    v.description(
      'Whose relays take the media in, the nearest of all; null when no region takes clients.',
    ),
  ),
  basis: v.pipe(
    v.picklist(['override', 'coordinates', 'country', 'colo', 'continent', 'default']),
    v.description('What tells where the client is.'),
  ),
  reason: v.pipe(v.string(), v.description('All of it in words, for people.')),
  sharing: v.pipe(
    v.array(
      v.strictObject({
        ...Cluster,
        load: v.pipe(
          v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
          v.description('Share of its room that is taken; null when no call goes there now.'),
        ),
        reason: v.pipe(v.string(), v.description('Why calls go there, or why none does.')),
      }),
    ),
    v.description(
      'The clusters about equally near, near to far, when there is more than one: a call draws two of them and goes to the emptier.',
    ),
  ),
  clusters: v.pipe(
    v.array(
      v.strictObject({
        ...Cluster,
        distanceKm: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
      }),
    ),
    v.description('All clusters that take calls, in the order to try them.'),
  ),
  client: v.pipe(
    v.nullable(v.strictObject({ latitude: Latitude, longitude: Longitude })),
    v.description('Where the client is, in degrees; null when nothing tells.'),
  ),
  regions: v.pipe(
    v.array(
      v.strictObject({
        ...Cluster,
        state: v.picklist(['active', 'draining']),
        latitude: Latitude,
        longitude: Longitude,
      }),
    ),
    v.description('All regions that serve, for a map; those that drain take no new calls.'),
  ),
});

export type WhereAnswer = v.InferOutput<typeof WhereSchema>;
