/**
 * What the clouds do and the schemas do not say, as far as this project's resources need it. It is a
 * list of this project's own after the providers' documentation ("Forces new resource"); only a plan
 * by the real providers proves it.
 */
import { asFields, UNKNOWN, type Fields } from './values.ts';

/** Attributes of every resource of a provider that cannot change in place. */
const ALWAYS_FIXED = new Set(['region', 'account_id', 'zone_id', 'availability_zone', 'vpc_id']);

/** The same of each type in use. */
export const FIXED: Readonly<Record<string, readonly string[]>> = {
  aws_autoscaling_group: ['name', 'name_prefix'],
  aws_autoscaling_lifecycle_hook: ['name', 'autoscaling_group_name'],
  aws_autoscaling_policy: ['name', 'autoscaling_group_name'],
  aws_cloudwatch_log_group: ['name', 'name_prefix'],
  aws_cloudwatch_metric_alarm: ['alarm_name'],
  aws_default_security_group: [],
  aws_ec2_managed_prefix_list: ['address_family'],
  aws_elasticache_replication_group: [
    'replication_group_id',
    'subnet_group_name',
    'at_rest_encryption_enabled',
    'kms_key_id',
    'port',
  ],
  aws_elasticache_subnet_group: ['name'],
  aws_flow_log: [
    'iam_role_arn',
    'log_destination',
    'log_destination_type',
    'log_format',
    'max_aggregation_interval',
    'traffic_type',
  ],
  aws_globalaccelerator_accelerator: [],
  aws_globalaccelerator_endpoint_group: ['listener_arn', 'endpoint_group_region'],
  aws_globalaccelerator_listener: ['accelerator_arn'],
  aws_iam_instance_profile: ['name', 'name_prefix', 'path'],
  aws_iam_role: ['name', 'name_prefix', 'path'],
  aws_iam_role_policy: ['name', 'name_prefix', 'role'],
  aws_internet_gateway: [],
  aws_kms_key: ['customer_master_key_spec', 'key_usage', 'multi_region'],
  aws_launch_template: ['name', 'name_prefix'],
  aws_lb: ['name', 'name_prefix', 'internal', 'load_balancer_type'],
  aws_lb_listener: ['load_balancer_arn'],
  aws_lb_target_group: [
    'name',
    'name_prefix',
    'port',
    'protocol',
    'target_type',
    'ip_address_type',
  ],
  aws_route: [
    'route_table_id',
    'destination_cidr_block',
    'destination_ipv6_cidr_block',
    'destination_prefix_list_id',
  ],
  aws_route_table: [],
  aws_route_table_association: ['subnet_id', 'gateway_id'],
  aws_security_group: ['name', 'name_prefix', 'description'],
  aws_sns_topic: ['name', 'name_prefix', 'fifo_topic'],
  aws_ssm_parameter: ['name', 'data_type'],
  aws_subnet: ['cidr_block', 'ipv6_native', 'outpost_arn'],
  aws_vpc: ['cidr_block', 'instance_tenancy', 'ipv4_ipam_pool_id'],
  aws_vpc_endpoint: ['service_name', 'vpc_endpoint_type', 'service_region'],
  aws_vpc_peering_connection: ['peer_vpc_id', 'peer_owner_id', 'peer_region'],
  aws_vpc_peering_connection_accepter: ['vpc_peering_connection_id'],
  aws_vpc_security_group_egress_rule: ['security_group_id'],
  aws_vpc_security_group_ingress_rule: ['security_group_id'],
  cloudflare_dns_record: ['type'],
  cloudflare_ruleset: ['kind', 'phase'],
  cloudflare_workers_custom_domain: ['hostname'],
  cloudflare_workers_kv: ['namespace_id', 'key_name'],
  cloudflare_workers_kv_namespace: [],
  cloudflare_workers_script: ['script_name'],
  cloudflare_zero_trust_tunnel_cloudflared: ['config_src', 'tunnel_secret'],
  cloudflare_zero_trust_tunnel_cloudflared_config: ['tunnel_id'],
};

/** Whether the cloud makes a resource anew when the attribute at this path changes. */
export function forcesReplacement(type: string, path: string): boolean {
  return ALWAYS_FIXED.has(path) || (FIXED[type]?.includes(path) ?? false);
}

/** Computed attributes that every change of the resource changes. */
const NEW_WITH_EACH_CHANGE: Readonly<Record<string, readonly string[]>> = {
  aws_launch_template: ['latest_version', 'default_version'],
  aws_ssm_parameter: ['version'],
};

export function changesWithEachUpdate(type: string, path: string): boolean {
  return NEW_WITH_EACH_CHANGE[type]?.includes(path) ?? false;
}

/** Values whose shape what reads them relies on, by `type.path`; others are made up by their type. */
const WELL_SHAPED: Readonly<Record<string, unknown>> = {
  'aws_globalaccelerator_accelerator.ip_sets': [
    { ip_addresses: ['192.0.2.1', '192.0.2.2'], ip_family: 'IPv4' },
  ],
  'aws_caller_identity.account_id': '123456789012',
  'aws_partition.partition': 'aws',
  'aws_ssm_parameter.value': 'ami-0123456789abcdef0',
  'aws_ami.id': 'ami-0123456789abcdef0',
  'aws_iam_policy_document.json': '{"Version":"2012-10-17","Statement":[]}',
  'aws_launch_template.latest_version': 1,
  'aws_launch_template.default_version': 1,
};

export function wellShaped(type: string, path: string): unknown {
  return WELL_SHAPED[`${type}.${path}`];
}

/** Longest names that AWS takes. */
const LONGEST_NAME: Readonly<Record<string, readonly [attribute: string, length: number]>> = {
  aws_elasticache_replication_group: ['replication_group_id', 40],
  aws_iam_instance_profile: ['name', 128],
  aws_iam_role: ['name', 64],
  aws_lb: ['name', 32],
  aws_lb_target_group: ['name', 32],
};

/** Settings that fit the schema and that the cloud refuses, or takes and does harm with. */
const REFUSALS: Readonly<Record<string, (config: Fields) => (string | false)[]>> = {
  aws_lb: ({ load_balancer_type, security_groups }) => [
    load_balancer_type === 'network' &&
      security_groups === null &&
      'a network load balancer without security_groups hides client addresses from what is behind Global Accelerator',
  ],
  aws_lb_target_group: ({ protocol, preserve_client_ip, health_check }) => [
    protocol === 'UDP' &&
      preserve_client_ip === 'false' &&
      'preserve_client_ip cannot be turned off for UDP',
    ...itemsOf(health_check).map(
      (check) => check.protocol === 'UDP' && 'health_check.protocol is TCP, HTTP or HTTPS',
    ),
  ],
  aws_globalaccelerator_listener: ({ protocol }) => [
    protocol !== UNKNOWN && protocol !== 'TCP' && protocol !== 'UDP' && 'protocol is TCP or UDP',
  ],
  aws_globalaccelerator_endpoint_group: ({ endpoint_configuration }) =>
    itemsOf(endpoint_configuration).map(
      (endpoint) =>
        endpoint.client_ip_preservation_enabled !== true &&
        'endpoint_configuration.client_ip_preservation_enabled is false unless it is set',
    ),
};

/** Why the cloud would refuse this configuration. */
export function refusals(type: string, config: Fields): string[] {
  const [attribute, length] = LONGEST_NAME[type] ?? [];
  const name = attribute === undefined ? undefined : config[attribute];
  return [
    ...(typeof name === 'string' && name.length > length!
      ? [`${attribute} ${name} is longer than ${length}`]
      : []),
    ...(REFUSALS[type]?.(config) ?? []).filter((refusal) => refusal !== false),
  ];
}

function itemsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}
