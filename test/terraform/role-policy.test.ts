/** The role that Terraform is given has rights in every service that terraform/ has resources of, and fits a role. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { usedTypes } from './slice-schemas.ts';

const POLICY = new URL('../../terraform/role-policy.json', import.meta.url);
/** Characters without whitespace that the policies within a role may have. */
const MAX_LENGTH = 10_240;

/** Services of resources by what their type begins with; those of `ec2` have no word in common. */
const SERVICES: Readonly<Record<string, string>> = {
  autoscaling: 'autoscaling',
  cloudwatch_log: 'logs',
  cloudwatch_metric: 'cloudwatch',
  elasticache: 'elasticache',
  globalaccelerator: 'globalaccelerator',
  iam: 'iam',
  kms: 'kms',
  lb: 'elasticloadbalancing',
  sns: 'sns',
  ssm: 'ssm',
};
const EC2 = /^(default_|ec2_|flow_log|internet_gateway|launch_template|route|security|subnet|vpc)/;

const ActionSchema = v.union([v.string(), v.array(v.string())]);
const PolicySchema = v.object({ Statement: v.array(v.looseObject({ Action: ActionSchema })) });

test('the policy of the role for Terraform has every service in use, and fits into a role', async () => {
  const text = await readFile(POLICY, 'utf8');
  expect(text.replaceAll(/\s/g, '').length).toBeLessThan(MAX_LENGTH);
  const actions = v.parse(PolicySchema, JSON.parse(text)).Statement.flatMap(({ Action }) => Action);
  const allowed = new Set(actions.map((action) => action.split(':')[0]));
  const types = [...(await usedTypes()).resource].filter((type) => type.startsWith('aws_'));
  expect(types.length).toBeGreaterThan(20);
  expect(types.filter((type) => !allowed.has(serviceOf(type.replace('aws_', ''))))).toEqual([]);
});

function serviceOf(type: string): string | undefined {
  if (EC2.test(type)) return 'ec2';
  return Object.entries(SERVICES).find(([start]) => `${type}_`.startsWith(`${start}_`))?.[1];
}
