import * as v from 'valibot';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { BackendChoice, openBackend } from './backends.ts';

const log = pino({ level: 'silent' });

test.each([
  'echo',
  'parrot',
  { realtime: 'ws://127.0.0.1:1' },
  { realtime: 'wss://example.com/v1/realtime?model=m', apiKey: 'key', session: { voice: 'alloy' } },
])('%j is taken', async (choice) => {
  const opened = await openBackend(v.parse(BackendChoice, choice), log);
  expect(opened.backend.name).toBe(choice === 'echo' ? 'echo' : 'realtime');
  await opened.close();
});

test.each([
  'human',
  {},
  { realtime: 'https://example.com' },
  { realtime: 'wss://example.com/#part' },
  { realtime: 'wss://example.com', apiKey: 'two\r\nlines' },
  { realtime: 'wss://example.com', key: 'secret' },
])('%j is not, and its message shows no key', (choice) => {
  const { issues } = v.safeParse(BackendChoice, choice);
  const messages = issues!.map(({ message }) => message).join();
  expect(messages).not.toMatch(/secret|two/);
});
