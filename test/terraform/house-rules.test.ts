import { describe, expect, test } from 'vitest';
import { houseFaults, type StateResource } from './house-rules.ts';
import { readSlice } from './slice-schemas.ts';

const { resource_schemas: schemas } = await readSlice('aws');
const region = 'eu-central-1';
const tags = { app: 'global-relay' };
const key = 'arn:aws:kms:eu-central-1:123456789012:key/1';

const TRACKING = { tcp_established_timeout: 350, udp_stream_timeout: 60, udp_timeout: 30 };

const GOOD: readonly StateResource[] = [
  resource('aws_vpc', { region, tags }),
  resource('aws_iam_role', { tags }),
  resource('aws_cloudwatch_log_group', { region, tags, kms_key_id: key }),
  resource('aws_launch_template', {
    region,
    tags,
    block_device_mappings: [{ ebs: [{ encrypted: 'true' }] }],
    metadata_options: [{ http_tokens: 'required' }],
    network_interfaces: [{ connection_tracking_specification: [TRACKING] }],
  }),
  resource('aws_lb_target_group', {
    region,
    tags,
    preserve_client_ip: 'true',
    health_check: [{ protocol: 'TCP' }],
  }),
  resource('aws_route', { region, destination_cidr_block: '0.0.0.0/0' }),
  resource('aws_vpc_security_group_ingress_rule', {
    region,
    tags,
    cidr_ipv4: '0.0.0.0/0',
    from_port: 3478,
    to_port: 3478,
  }),
  resource('aws_iam_role_policy', {
    policy: policyOf(
      { Action: ['ssm:GetParameter'], Resource: [key] },
      { Action: ['ecr:GetAuthorizationToken'], Resource: ['*'] },
    ),
  }),
  resource('aws_autoscaling_group', { region, tag: [{ key: 'app', propagate_at_launch: true }] }),
];

describe('the house rules', () => {
  test('let good resources be', () => {
    expect(houseFaults(GOOD, schemas)).toEqual([]);
  });

  test.each([
    ['no region', 'aws_vpc', { region: undefined }, 'region is not set'],
    ['a region made up by the provider', 'aws_vpc', { region: 'region-1f' }, 'region is not set'],
    ['no tags', 'aws_vpc', { tags: null }, 'there is no tag app'],
    ['other tags', 'aws_iam_role', { tags: { Name: 'a' } }, 'there is no tag app'],
    ['untagged machines', 'aws_autoscaling_group', { tag: [] }, 'its machines have no tag app'],
    [
      'a key made up by the provider',
      'aws_cloudwatch_log_group',
      { kms_key_id: 'kms_key_id-1f' },
      'kms_key_id is not what keeps it secret',
    ],
    [
      'a role that may read all parameters',
      'aws_iam_role_policy',
      { policy: policyOf({ Action: ['ssm:GetParameter'], Resource: '*' }) },
      'it allows ssm:GetParameter on everything',
    ],
    [
      'a role that may do all with them',
      'aws_iam_role_policy',
      { policy: policyOf({ Action: 'ssm:*', Resource: [key] }) },
      'it allows ssm:*',
    ],
    [
      'a volume in clear',
      'aws_launch_template',
      { block_device_mappings: [{ ebs: [{ encrypted: 'true' }, { encrypted: null }] }] },
      'block_device_mappings.ebs.encrypted is not what keeps it secret',
    ],
    [
      'flows that are forgotten early',
      'aws_launch_template',
      {
        network_interfaces: [
          { connection_tracking_specification: [{ ...TRACKING, udp_stream_timeout: null }] },
        ],
      },
      'network_interfaces.connection_tracking_specification.udp_stream_timeout is not what media need',
    ],
    [
      'clients that all look like the load balancer',
      'aws_lb_target_group',
      { preserve_client_ip: null },
      'preserve_client_ip is not what media need',
    ],
    [
      'no word of volumes',
      'aws_launch_template',
      { block_device_mappings: [] },
      'block_device_mappings.ebs.encrypted is not what keeps it secret',
    ],
    [
      'another open port',
      'aws_vpc_security_group_ingress_rule',
      { from_port: 22, to_port: 22 },
      'it is open to the world',
    ],
    [
      'open ports around the relays’',
      'aws_vpc_security_group_ingress_rule',
      { from_port: 3478, to_port: 3479 },
      'it is open to the world',
    ],
    [
      'an open port of IPv6',
      'aws_vpc_security_group_ingress_rule',
      { cidr_ipv4: null, cidr_ipv6: '::/0', from_port: 22 },
      'it is open to the world',
    ],
    [
      'the world elsewhere',
      'aws_vpc',
      { ingress: [{ cidr_blocks: ['0.0.0.0/0'] }] },
      'it is open to the world',
    ],
  ])('refuse %s', (_, type, change, fault) => {
    const good = GOOD.find((one) => one.type === type)!;
    const bad = { ...good, values: { ...good.values, ...change } };
    expect(houseFaults([bad], schemas)).toEqual([`${type}.a: ${fault}`]);
  });

  test('want to know how a store of data is encrypted', () => {
    expect(houseFaults([resource('aws_s3_bucket', { region, tags })], schemas)).toEqual([
      'aws_s3_bucket.a: say in house-rules.ts how it is encrypted',
    ]);
  });
});

function resource(type: string, values: StateResource['values']): StateResource {
  return { address: `${type}.a`, type, values };
}

function policyOf(...statements: readonly object[]): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: statements });
}
