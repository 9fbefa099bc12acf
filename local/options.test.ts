import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OptionsError, parseOptions } from './options.ts';

test('knows its options', () => {
  expect(parseOptions([])).toEqual({ check: false, help: false });
  expect(parseOptions(['--check'])).toEqual({ check: true, help: false });
  expect(parseOptions(['-h'])).toEqual({ check: false, help: true });
});

test.each([['--chek'], ['-x'], ['--check=yes'], ['now']])('refuses %s and says how', (arg) => {
  expect(() => parseOptions([arg])).toThrow(OptionsError);
  expect(() => parseOptions([arg])).toThrow('npm start -- --check');
});

test('gives its own error for any other words', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (args) => {
      const known = args.every((arg) => ['--check', '--help', '-h', '--'].includes(arg));
      fc.pre(!known);
      expect(() => parseOptions(args)).toThrow(OptionsError);
    }),
  );
});
