/** A region file, field by field. */
import * as v from 'valibot';

/** Instances of a pool. */
export const CountSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000));
const Pool = v.strictObject({
  instance_type: v.pipe(
    v.string(),
    // Graviton has its g after the generation, as in c7gn and is4gen.
    v.regex(
      /^[a-z]+[0-9]+g[a-z]*\.[a-z0-9]+$/,
      'give an EC2 instance type of Graviton, as c7g.large',
    ),
    v.description('EC2 instance type of Graviton, as c7g.large, for images and system are arm64.'),
  ),
  min: CountSchema,
  max: CountSchema,
});
export const RegionNameSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z]{2}(-[a-z]+)+-[0-9]$/, 'give the name of a region, as eu-central-1'),
);

export const ZoneNameSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$/, 'give the name of a zone, as eu-central-1a'),
);

/** ISO 3166-1 alpha-2. */
export const CountrySchema = v.pipe(
  v.string(),
  v.regex(/^[A-Z]{2}$/, 'give a country by its two capital letters, as DE'),
);
/** IATA code of a Cloudflare colo. */
export const ColoSchema = v.pipe(
  v.string(),
  v.regex(/^[A-Z]{3}$/, 'give a colo by its three capital letters, as FRA'),
);
export const ContinentSchema = v.picklist(['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA']);

/** One region file. */
export const RegionSchema = v.strictObject({
  id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(0xffff),
    v.description(
      'Cluster id in every routed ufrag. Never given to another, even after a region is gone.',
    ),
  ),
  state: v.pipe(
    v.picklist(['planned', 'active', 'draining']),
    v.description(
      'planned: only listed, nothing is built; active; draining: takes no new sessions.',
    ),
  ),
  cidr: v.pipe(
    v.string(),
    v.regex(/^\d+\.\d+\.0\.0\/16$/, 'give an IPv4 /16, as 10.1.0.0/16'),
    v.description('IPv4 /16 of the VPC.'),
  ),
  azs: v.pipe(v.array(ZoneNameSchema), v.minLength(2), v.description('Availability zones.')),
  geo: v.strictObject({
    latitude: v.pipe(v.number(), v.minValue(-90), v.maxValue(90)),
    longitude: v.pipe(v.number(), v.minValue(-180), v.maxValue(180)),
    countries: v.optional(
      v.pipe(
        v.array(CountrySchema),
        v.description(
          'ISO 3166-1 codes served from here, and nowhere else, when a client has no coordinates.',
        ),
      ),
    ),
    continents: v.optional(
      v.pipe(
        v.array(ContinentSchema),
        v.description(
          'Continents served from here, and nowhere else, when nothing more exact is known.',
        ),
      ),
    ),
    weight: v.optional(
      v.pipe(
        v.number(),
        v.minValue(0.1),
        v.maxValue(10),
        v.description('Distances to here are divided by it; 1 when missing.'),
      ),
    ),
    overrides: v.optional(
      v.pipe(
        v.strictObject({
          countries: v.optional(v.array(CountrySchema)),
          colos: v.optional(v.array(ColoSchema)),
        }),
        v.description(
          'Countries and Cloudflare colos whose clients come here however near others are.',
        ),
      ),
    ),
  }),
  failover: v.pipe(
    v.array(RegionNameSchema),
    v.description('Regions that take over, in this order; every other region follows by distance.'),
  ),
  relay: Pool,
  transceiver: Pool,
  redis: v.strictObject({
    node_type: v.pipe(
      v.string(),
      v.regex(/^cache\.[a-z0-9]+\.[a-z0-9]+$/, 'give an ElastiCache node type, as cache.r7g.large'),
    ),
    replicas: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)),
  }),
});
export type Region = v.InferOutput<typeof RegionSchema>;
