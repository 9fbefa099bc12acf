/** `npm start -- --check` must notice what is broken. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkStack } from '../local/check.ts';
import { placeOfRegion } from '../local/place.ts';
import { scriptedCall, ScriptedCallError } from '../local/scripted-call.ts';
import { startStack, type Stack } from '../local/stack.ts';

const START = fileURLToPath(new URL('../local/start.ts', import.meta.url));

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ transceivers: { 'eu-central-1': 0 } });
});
afterAll(() => stack.close());

test('a region that cannot take its calls is named, and the others are shown', async () => {
  const lines: string[] = [];
  expect(await checkStack(stack, (line) => lines.push(line))).toBe(false);
  const output = lines.join('\n');
  expect(output).toContain('FAILED eu-central-1: the call went to us-east-1');
  expect(output).toMatch(/^us-east-1 .*transceiver \d/m);
  expect(output).toMatch(/^ap-northeast-1 .*transceiver \d/m);
  expect(output).toContain('2 of 3 calls got through.');
});

test('a call that cannot reach the edge says so', async () => {
  const place = placeOfRegion(stack.footprint['us-east-1']!);
  const call = scriptedCall({ edge: 'http://127.0.0.1:9', place });
  await expect(call).rejects.toThrow(ScriptedCallError);
  await expect(call).rejects.toThrow('The edge at http://127.0.0.1:9 cannot be reached');
});

test.each([
  [['--chek'], 2, "Unknown option '--chek'"],
  [['--help'], 0, 'npm start -- --check'],
])('the command line %j ends with %i', async (args, code, text) => {
  const result = await new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = execFile(process.execPath, [START, ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, output: stdout + stderr });
    });
  });
  expect(result.code).toBe(code);
  expect(result.output).toContain(text);
});
