import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Counters } from './counters.ts';
import { SOCK_DGRAM, SOCK_NONBLOCK, hasBatchedCalls, libc } from './libc.ts';
import {
  MESSAGE_NAME,
  MESSAGE_NAME_LENGTH,
  MESSAGE_WORDS,
  NativeWords,
  sendMessages,
  setPointer,
} from './native-message.ts';
import { totals } from './testing/totals.ts';

/** A receiver of this family has room for few datagrams, and its sender is told when there is none. */
const AF_UNIX = 1;

/** More than a system lets wait for one socket (net.unix.max_dgram_qlen) and a buffer holds. */
const MESSAGES = 4_096;

function openSocket(): number {
  const fd = libc().socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  onTestFinished(() => void libc().close(fd));
  return fd;
}

/** Empty messages for a name of the abstract kind, which leaves no file. */
function messagesTo(name: NativeWords): NativeWords {
  const messages = new NativeWords(MESSAGES * MESSAGE_WORDS);
  for (let i = 0; i < MESSAGES; i++) {
    setPointer(messages.words, i * MESSAGE_WORDS + MESSAGE_NAME, name.address);
    messages.words[i * MESSAGE_WORDS + MESSAGE_NAME_LENGTH] = name.buffer.byteLength;
  }
  return messages;
}

function unusedName(): NativeWords {
  const name = new NativeWords(10);
  const bytes = Buffer.from(name.buffer);
  bytes.writeUInt16LE(AF_UNIX, 0);
  bytes.write(randomUUID(), 3);
  return name;
}

describe.runIf(hasBatchedCalls())('messages that the system does not take', () => {
  test('for want of room are drops, and each of their datagrams is one', () => {
    const name = unusedName();
    const receiver = openSocket();
    const bytes = new Uint8Array(name.buffer);
    expect(libc().bind(receiver, bytes, bytes.length)).toBe(0);
    const messages = messagesTo(name);
    const sender = openSocket();
    const [single, several] = [new Counters(), new Counters()];

    sendMessages(sender, messages, MESSAGES, single);
    sendMessages(sender, messages, 5, several, Uint8Array.of(1, 2, 3, 4, 5));

    expect(totals(single).drops['queue-full']).toBeGreaterThan(0);
    expect(totals(single).drops['queue-full']).toBeLessThan(MESSAGES);
    expect(totals(several).drops['queue-full']).toBe(15);
    expect(totals(single).sendErrors + totals(several).sendErrors).toBe(0);
  });

  test('for another reason are errors', () => {
    const counters = new Counters();
    // Nobody has that name.
    const messages = messagesTo(unusedName());
    sendMessages(openSocket(), messages, 2, counters, Uint8Array.of(1, 2));
    expect(totals(counters)).toMatchObject({ sendErrors: 3, drops: { 'queue-full': 0 } });
  });
});
