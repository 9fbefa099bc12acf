import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OptionsError } from '../origin/command-line.ts';
import { helpText, parseOptions } from './options.ts';

test('knows its options', () => {
  expect(parseOptions([])).toEqual({ check: false, help: false });
  expect(parseOptions(['--check'])).toEqual({ check: true, help: false });
  expect(parseOptions(['-h'])).toEqual({ check: false, help: true });
  expect(parseOptions(['--port', '9000', '--logs=debug'])).toEqual({
    check: false,
    help: false,
    port: 9000,
    logs: 'debug',
  });
});

test('takes an address for media', () => {
  expect(parseOptions(['--media', '192.168.1.5'])).toMatchObject({ media: '192.168.1.5' });
});

test.each([
  [['--chek'], "Unknown option '--chek'"],
  [['-x'], "Unknown option '-x'"],
  [['--check=yes'], "'--check' does not take an argument"],
  [['now'], "Unexpected argument 'now'"],
  [['--port'], "'--port <value>' argument missing"],
  [['--port', '0'], '--port 0 is not 1 to 65535'],
  [['--port', '65536'], '--port 65536 is not 1 to 65535'],
  [['--port', '8e3'], '--port 8e3 is not 1 to 65535'],
  [['--media', 'localhost'], '--media localhost is no IP address'],
  [['--logs', 'all'], '--logs all is none of debug, info, warn, error'],
])('refuses %j and says why', (args, reason) => {
  expect(() => parseOptions(args)).toThrow(OptionsError);
  expect(() => parseOptions(args)).toThrow(reason);
});

test('gives its own error for any other words', () => {
  const known = fc.constantFrom(
    '--check',
    '--port',
    '--media',
    '--logs',
    '9000',
    '--port=1',
    '--help',
    '-h',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), known)), (args) => {
      expect(outcomeOf(args)).toMatch(/^(options|OptionsError)$/);
    }),
  );
});

function outcomeOf(args: readonly string[]): string {
  try {
    parseOptions(args);
    return 'options';
  } catch (error) {
    return error instanceof Error ? error.name : 'no error at all';
  }
}

test('the help counts the regions', () => {
  expect(helpText(['us-east-1'])).toContain('1 region (us-east-1).');
  expect(helpText(['us-east-1', 'eu-central-1'])).toContain('2 regions (us-east-1, eu-central-1).');
});
