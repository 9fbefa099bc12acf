/** A region is added by adding one file: the system on this machine has it then, and sends it calls. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { checkStack } from '../local/check.ts';
import { runRegion } from '../local/region/run.ts';
import { REGIONS_DIR, startStack } from '../local/stack.ts';

const NAME = 'sa-east-1';
const SIMULATE = fileURLToPath(new URL('../local/simulate/command.ts', import.meta.url));

test(`${NAME} takes calls from its place once its file is there and active`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'regions-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await cp(REGIONS_DIR, directory, { recursive: true });
  expect(await runRegion(['add', NAME, '--regions', directory], console)).toBe(0);

  const args = [SIMULATE, '--regions', directory];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain(`with ${NAME}`);

  const file = join(directory, `${NAME}.yaml`);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('state: planned', 'state: active'));
  const stack = await startStack({ regionsDir: directory });
  onTestFinished(() => stack.close());
  const lines: string[] = [];
  // Each call fails that does not go to the region it comes from.
  await checkStack(stack, (line) => lines.push(line));
  expect(lines.join('\n')).toContain('4 of 4 calls got through.');
});
