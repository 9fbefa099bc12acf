import { expect, test } from 'vitest';
import { declarationFaults, readDeclarations } from './declarations.ts';

test('what the .tf files declare is typed, described and validated', async () => {
  const files = await readDeclarations();
  expect(Object.keys(files)).toContain('variables.tf');
  expect(declarationFaults(files)).toEqual([]);
});

const variable = { type: '${string}', description: 'a', validation: [{}] };
const output = { description: 'a', value: '${module.anycast.addresses}' };

test('what is declared badly is told', () => {
  const files = {
    'a.tf': {
      variable: {
        good: [variable],
        untyped: [{ ...variable, type: undefined }],
        undescribed: [{ ...variable, description: undefined }],
        unchecked: [{ ...variable, validation: undefined }],
        signing_key: [variable],
        redis_auth: [{ ...variable, sensitive: true }],
        secrets_version: [{ ...variable, type: '${number}' }],
      },
      output: {
        good: [output],
        undescribed: [{ value: 1 }],
        auth: [{ ...output, value: '${var.secrets.redis_auth}' }],
        kept: [{ ...output, value: '${var.secrets.redis_auth}', sensitive: true }],
        topic: [{ ...output, value: '${aws_kms_key.this.key_id}' }],
      },
    },
  };
  expect(declarationFaults(files)).toEqual([
    'a.tf: variable untyped has no type',
    'a.tf: variable undescribed has no description',
    'a.tf: variable unchecked has no validation',
    'a.tf: variable signing_key is not sensitive',
    'a.tf: output undescribed has no description',
    'a.tf: output auth is not sensitive',
  ]);
});
