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

/** Attributes by which a type is encrypted, as paths, and what they must be. */
const ENCRYPTION: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
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

function encryptionFaults({ type, values }: StateResource): string[] {
  const wanted = ENCRYPTION[type];
  if (wanted === undefined) {
    return STORES.test(type) ? ['say in house-rules.ts how it is encrypted'] : [];
  }
  return Object.entries(wanted)
    .filter(([path, pattern]) => {
      const found = valuesAt(values, path.split('.'));
      return found.length === 0 || !found.every((value) => pattern.test(String(value)));
    })
    .map(([path]) => `${path} is not what keeps it secret`);
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
