import { expect, test } from 'vitest';
import { PROVIDERS, readSlice } from '../slice-schemas.ts';
import { FIXED, refusals } from './clouds.ts';

test.each([
  [
    'aws_lb',
    { load_balancer_type: 'network', security_groups: null, name: 'a' },
    'security_groups',
  ],
  ['aws_lb_target_group', { protocol: 'UDP', preserve_client_ip: 'false' }, 'preserve_client_ip'],
  [
    'aws_lb_target_group',
    { protocol: 'TCP_UDP', health_check: [{ protocol: 'UDP' }] },
    'health_check',
  ],
  ['aws_lb_target_group', { name: 'a'.repeat(33) }, 'longer than 32'],
  ['aws_globalaccelerator_listener', { protocol: 'TCP_UDP' }, 'protocol'],
  [
    'aws_globalaccelerator_endpoint_group',
    { endpoint_configuration: [{}] },
    'client_ip_preservation',
  ],
])('a cloud refuses %s with %j', (type, config, told) => {
  expect(refusals(type, config)).toEqual([expect.stringContaining(told)]);
});

test('a cloud takes what is good, and what it does not know yet', () => {
  expect(refusals('aws_lb', { load_balancer_type: 'network', security_groups: ['sg-1'] })).toEqual(
    [],
  );
  expect(refusals('aws_vpc', { cidr_block: '10.1.0.0/16' })).toEqual([]);
});

test('what cannot change in place is told of each type in use', async () => {
  const slices = await Promise.all(PROVIDERS.map(readSlice));
  const types = slices.flatMap(({ resource_schemas }) => Object.entries(resource_schemas));
  expect(Object.keys(FIXED).toSorted()).toEqual(types.map(([type]) => type).toSorted());
  for (const [type, { block }] of types) {
    expect(Object.keys(block.attributes!)).toEqual(expect.arrayContaining([...FIXED[type]!]));
  }
});
