/** What holds for every resource in terraform/, looked at as the state has it, with all expressions evaluated. */
import { asFields, type Fields } from './standin/values.ts';
import type { Schema } from './standin/schema.ts';

export interface StateResource {
  readonly address: string;
  readonly type: string;
  readonly values: Fields;
}

/** Types of AWS that belong to no region; every other sets `region`. */
export const GLOBAL_TYPES = /^aws_(globalaccelerator|iam)_/;

const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/;
const KMS_KEY = /^arn:/;
const WORLD = new Set(['0.0.0.0/0', '::/0']);

/** Ports that the world may send to: the relays'. */
const OPEN_PORTS = [3478];
/** Ports of the world that machines may send to: HTTPS. */
const OUTWARD_PORTS = [443];

/** Actions that know no resource. */
const ACTIONS_OF_NO_RESOURCE = new Set([
  'cloudwatch:PutMetricData',
  'ecr:GetAuthorizationToken',
  'ssm:UpdateInstanceInformation',
  'ssmmessages:CreateControlChannel',
  'ssmmessages:CreateDataChannel',
  'ssmmessages:OpenControlChannel',
  'ssmmessages:OpenDataChannel',
]);

/** By type, attributes as paths, and what each of their values must be. */
type Wanted = Readonly<Record<string, Readonly<Record<string, RegExp>>>>;

/** By what a type is encrypted. */
const ENCRYPTION: Wanted = {
  aws_cloudwatch_log_group: { kms_key_id: KMS_KEY },
  aws_elasticache_replication_group: {
    at_rest_encryption_enabled: /^true$/,
    kms_key_id: KMS_KEY,
    transit_encryption_enabled: /^true$/,
    transit_encryption_mode: /^required$/,
  },
  aws_kms_key: { enable_key_rotation: /^true$/ },
  aws_launch_template: {
    'block_device_mappings.ebs.encrypted': /^true$/,
    'metadata_options.http_tokens': /^required$/,
  },
  aws_sns_topic: { kms_master_key_id: KMS_KEY },
};

/** What media need: seconds for which a flow is tracked, as long as AWS lets it be, and the client's own address. */
const FLOWS: Wanted = {
  aws_launch_template: {
    'network_interfaces.connection_tracking_specification.tcp_established_timeout': /^350$/,
    'network_interfaces.connection_tracking_specification.udp_stream_timeout': /^60$/,
    'network_interfaces.connection_tracking_specification.udp_timeout': /^30$/,
  },
  aws_lb_target_group: {
    'health_check.protocol': /^TCP$/,
    preserve_client_ip: /^true$/,
  },
};

/** Types that keep data; one that comes new needs its line above. */
const STORES =
  /^aws_(cloudwatch_log_group|db_|dynamodb_|ebs_|efs_|elasticache_repl|kinesis_|rds_|s3_|sns_topic$|sqs_)/;

/**
 * @param schemas Those of the types of AWS, which tell what takes tags.
 * @returns Every break of a rule, with the resource's address.
 */
export function houseFaults(
  resources: readonly StateResource[],
  schemas: Readonly<Record<string, Schema>>,
): string[] {
  return resources
    .filter(({ type }) => type.startsWith('aws_'))
    .flatMap((resource) =>
      [
        ...regionFaults(resource),
        ...tagFaults(resource, schemas[resource.type]),
        ...encryptionFaults(resource),
        ...unlike(resource, FLOWS[resource.type] ?? {}, 'is not what media need'),
        ...openFaults(resource),
        ...roleFaults(resource),
      ].map((fault) => `${resource.address}: ${fault}`),
    );
}

function regionFaults({ type, values }: StateResource): string[] {
  if (GLOBAL_TYPES.test(type)) return [];
  return REGION.test(String(values.region)) ? [] : ['region is not set'];
}

function tagFaults({ type, values }: StateResource, schema: Schema | undefined): string[] {
  if (type === 'aws_autoscaling_group') {
    const tags = asList(values.tag).filter(
      ({ propagate_at_launch }) => propagate_at_launch === true,
    );
    return tags.some(({ key }) => key === 'app') ? [] : ['its machines have no tag app'];
  }
  if (schema?.block.attributes?.tags === undefined) return [];
  return asFields(values.tags)?.app === undefined ? ['there is no tag app'] : [];
}

function encryptionFaults(resource: StateResource): string[] {
  const { type } = resource;
  const wanted = ENCRYPTION[type];
  if (wanted !== undefined) return unlike(resource, wanted, 'is not what keeps it secret');
  return STORES.test(type) ? ['say in house-rules.ts how it is encrypted'] : [];
}

/** Attributes without a value, or with another than they must have. */
function unlike(
  { values }: StateResource,
  wanted: Readonly<Record<string, RegExp>>,
  fault: string,
): string[] {
  return Object.entries(wanted)
    .filter(([path, pattern]) => {
      const found = valuesAt(values, path.split('.'));
      return found.length === 0 || !found.every((value) => pattern.test(String(value)));
    })
    .map(([path]) => `${path} ${fault}`);
}

function openFaults({ type, values }: StateResource): string[] {
  if (!stringsIn(values).some((text) => WORLD.has(text))) return [];
  if (type === 'aws_route') return [];
  if (type === 'aws_vpc_security_group_ingress_rule' && isWithin(values, OPEN_PORTS)) return [];
  if (type === 'aws_vpc_security_group_egress_rule' && isWithin(values, OUTWARD_PORTS)) return [];
  return ['it is open to the world'];
}

/** What roles may do is named, and so is what with. */
function roleFaults({ type, values }: StateResource): string[] {
  if (type !== 'aws_iam_role_policy') return [];
  const policy: unknown = JSON.parse(String(values.policy));
  return asList(asFields(policy)?.Statement).flatMap(({ Action, Resource }) => {
    const actions = stringsIn([Action]);
    const everywhere = stringsIn([Resource]).includes('*');
    return actions.flatMap((action) => {
      if (action.includes('*')) return [`it allows ${action}`];
      const anywhere = everywhere && !ACTIONS_OF_NO_RESOURCE.has(action);
      return anywhere ? [`it allows ${action} on everything`] : [];
    });
  });
}

function isWithin({ from_port, to_port }: Fields, ports: readonly number[]): boolean {
  return from_port === to_port && ports.some((port) => port === from_port);
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (name === undefined) return [value];
  const fields = asFields(value);
  return fields === null || fields[name] === undefined ? [] : valuesAt(fields[name], rest);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function asList(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}
