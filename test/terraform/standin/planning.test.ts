import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSlice } from '../slice-schemas.ts';
import { apply, plan } from './planning.ts';
import type { Schema } from './schema.ts';
import { decode, encode, hasUnknown, UNKNOWN, type Fields } from './values.ts';

const { resource_schemas } = await readSlice('aws');
const SUBNET = {
  region: 'eu-central-1',
  vpc_id: 'vpc-1',
  cidr_block: '10.2.0.0/23',
  tags: { app: 'a' },
};

describe('a resource', () => {
  test('has what the cloud assigns once it is applied, and not before', () => {
    const { planned, replacedFor } = planOf('aws_subnet', null, SUBNET);
    expect(planned).toMatchObject({ ...SUBNET, id: UNKNOWN, arn: UNKNOWN, timeouts: null });
    expect(replacedFor).toEqual([]);
    const state = applied('aws_subnet', SUBNET);
    expect(state).toMatchObject(SUBNET);
    expect(hasUnknown(state)).toBe(false);
    expect(state.arn).toMatch(/^arn:/);
    expect(applied('aws_subnet', SUBNET).id).not.toBe(state.id);
  });

  test('changes in place what may change', () => {
    const state = applied('aws_subnet', SUBNET);
    const changed = { ...state, tags: { app: 'b' } };
    expect(planOf('aws_subnet', state, changed)).toEqual({ planned: changed, replacedFor: [] });
    expect(planOf('aws_subnet', state, state)).toEqual({ planned: state, replacedFor: [] });
  });

  test.each([
    ['its network', { cidr_block: '10.2.2.0/23' }, ['cidr_block']],
    ['its region and its VPC', { region: 'us-east-1', vpc_id: UNKNOWN }, ['region', 'vpc_id']],
  ])('is made anew for %s', (_, change, replacedFor) => {
    const state = applied('aws_subnet', SUBNET);
    expect(planOf('aws_subnet', state, { ...state, ...change })).toMatchObject({ replacedFor });
  });

  test('has a new version with each change', () => {
    const state = applied('aws_launch_template', { region: 'eu-central-1', name: 'a' });
    expect(state.latest_version).toBe(1);
    const { planned } = planOf('aws_launch_template', state, { ...state, image_id: 'ami-1' });
    expect(planned.latest_version).toBe(UNKNOWN);
  });

  test('keeps nothing that is write-only', () => {
    const secret = { region: 'eu-central-1', name: 'a', type: 'SecureString', value_wo: 'secret' };
    expect(applied('aws_ssm_parameter', secret)).toMatchObject({ name: 'a', value_wo: null });
  });
});

describe('values', () => {
  test('are the same after they were sent', () => {
    // The decoder refuses that one key, and zero has no sign on the wire.
    const key = fc.string().filter((name) => name !== '__proto__');
    const number = fc.double({ noNaN: true }).map((value) => value + 0);
    const leaf = fc.oneof(
      fc.string(),
      number,
      fc.boolean(),
      fc.constant(null),
      fc.constant(UNKNOWN),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('tree')), fc.dictionary(key, tie('tree'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree), (value) => {
        const fields = decode(encode(value));
        expect(fields).toEqual(value);
        expect(hasUnknown(fields)).toBe(hasUnknown(value));
      }),
    );
  });

  test('of which something is known are unknown all the same', () => {
    // {"a": unknown}, of which go-cty says in extension 12 that it is not null
    expect(
      decode({ msgpack: Uint8Array.of(0x81, 0xa1, 0x61, 0xc7, 3, 12, 0x81, 1, 0xc2) }),
    ).toEqual({ a: UNKNOWN });
  });
});

function planOf(type: string, prior: Fields | null, proposed: Fields) {
  return plan(type, schemaOf(type), prior, proposed);
}

function applied(type: string, config: Fields): Fields {
  return apply(type, schemaOf(type), planOf(type, null, config).planned);
}

function schemaOf(type: string): Schema {
  return resource_schemas[type]!;
}
