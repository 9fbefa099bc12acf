import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EXIT_USAGE, OptionsError, wholeNumber } from './command-line.ts';

/** Programs, and a command line that each takes the words of but not the values. */
const PROGRAMS: readonly (readonly [name: string, program: string, wrong: readonly string[]])[] = [
  ['simulate', 'local/simulate/command.ts', ['--svg']],
  ['bench', 'bench/run.ts', ['relay', '--rounds', '0']],
  ['fuzz', 'origin/relay/testing/fuzz.ts', ['--datagrams', 'many']],
  ['soak', 'bench/soak/command.ts', ['--rate', '0']],
  ['k8s', 'origin/k8s/overlays.ts', ['--out']],
];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(new URL(`../${program}`, import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning', path, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, flags, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test.each(PROGRAMS)('%s tells how it is used', async (name, program) => {
  const { code, stdout, stderr } = await run(program, ['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`npm run ${name} -- --help`);
});

test.each([
  ['origin/relay-process.ts', 'RELAY_CONFIG'],
  ['origin/transceiver-process.ts', 'TRANSCEIVER_CONFIG'],
  ['origin/region.ts', 'REGION_CONFIG'],
])('%s tells how it is started', async (program, variable) => {
  for (const option of ['--help', '-h']) {
    const { code, stdout, stderr } = await run(program, [option]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`node ${program} --help`);
    expect(stdout).toContain(variable);
  }
});

test.each(PROGRAMS)('%s refuses what does not fit in one line', async (_name, program, wrong) => {
  for (const args of [['--no-such-option'], wrong]) {
    const { code, stdout, stderr } = await run(program, args);
    expect({ code, stdout }).toEqual({ code: EXIT_USAGE, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*--help[^\n]*\n$/);
  }
});

test.each(['', '0', '-1', '1.5', '1e3', 'many', '9'.repeat(16)])('%j is no count', (text) => {
  expect(() => wholeNumber('rounds', text, 1)).toThrow(OptionsError);
});

test('a count is taken', () => {
  expect(wholeNumber('rounds', '12', 1)).toBe(12);
});
