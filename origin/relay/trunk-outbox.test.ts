import { expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { TrunkOutbox } from './trunk-outbox.ts';

const MTU = 100;

interface Sent {
  readonly to: string;
  readonly text: string;
}

/** @returns What takes frames of texts, and what was sent at each flush. */
function open() {
  const sent: Sent[] = [];
  const outbox = new TrunkOutbox(MTU, (datagram, address, addressAt, port) => {
    const bytes = Buffer.from(address.slice(addressAt, addressAt + 16)).toString('hex');
    sent.push({ to: `${bytes} ${port}`, text: Buffer.from(datagram).toString() });
  });
  const add = (text: string, address: string, port: number): void =>
    outbox.add(Buffer.from(text), 0, text.length, parseAddress(address), 0, port);
  const flush = (): Sent[] => {
    outbox.flush();
    return sent.splice(0);
  };
  return { add, flush };
}

function to(address: string, port: number): string {
  return `${Buffer.from(parseAddress(address)).toString('hex')} ${port}`;
}

test('frames for many destinations, in turn, are joined for each', () => {
  const { add, flush } = open();
  const ports = Array.from({ length: 64 }, (_, i) => 4_000 + i);
  for (const text of ['a', 'b', 'c']) for (const port of ports) add(text, '10.0.0.1', port);
  expect(flush()).toEqual(ports.map((port) => ({ to: to('10.0.0.1', port), text: 'abc' })));
});

test('addresses that end alike are told apart, and each keeps its order', () => {
  const { add, flush } = open();
  const [one, other] = ['2001:db8::1', '2001:db8:1::1'];
  for (const text of ['a', 'b']) for (const address of [one, other]) add(text, address, 9);
  const sent = flush();
  for (const address of [one, other]) {
    const texts = sent.filter((datagram) => datagram.to === to(address, 9));
    expect(texts.map(({ text }) => text).join('')).toBe('ab');
  }
});

test('a full datagram does not grow any more, though there would be room for a short frame', () => {
  const { add, flush } = open();
  for (const text of ['a'.repeat(60), 'b'.repeat(60), 'c'.repeat(40)]) add(text, '10.0.0.1', 9);
  expect(flush().map(({ text }) => text.length)).toEqual([60, 100]);
});

test('nothing is joined to what was sent before', () => {
  const { add, flush } = open();
  add('a', '10.0.0.1', 9);
  expect(flush()).toHaveLength(1);
  add('b', '10.0.0.1', 9);
  expect(flush().map(({ text }) => text)).toEqual(['b']);
  expect(flush()).toEqual([]);
});
