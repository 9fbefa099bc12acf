import { expect, test } from 'vitest';
import { drained } from './drain.ts';
import { RTP } from './testing/packets.ts';
import { openEnd, openRelay, openTransceivers, prove, ufragFor } from './testing/rig.ts';

const LONG = 3_600_000;

async function openCall() {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));
  return { relay, send: (packet: Uint8Array) => client.send(packet, relay.listeners[0]!) };
}

test('a drain ends when no packet has come for a while', async () => {
  const { relay } = await openCall();
  const { signal } = new AbortController();
  const counters = () => relay.counters();
  expect(await drained({ time: LONG, quiet: 200, counters, signal })).toBe('no packets come');
});

test('a drain goes on as long as packets come, until its time is up', async () => {
  const { relay, send } = await openCall();
  const { signal } = new AbortController();
  const counters = () => relay.counters();
  const stream = setInterval(() => send(RTP), 5);
  try {
    const before = relay.counters().toTrunk.packets;
    expect(await drained({ time: 1500, quiet: 1000, counters, signal })).toBe('time is up');
    expect(relay.counters().toTrunk.packets).toBeGreaterThan(before);
  } finally {
    clearInterval(stream);
  }
});

test('packets that are dropped keep no drain going', async () => {
  const { relay, send } = await openCall();
  const { signal } = new AbortController();
  const counters = () => relay.counters();
  const noise = setInterval(() => send(Buffer.of(70)), 5);
  try {
    expect(await drained({ time: LONG, quiet: 300, counters, signal })).toBe('no packets come');
  } finally {
    clearInterval(noise);
  }
});

test('a drain ends at once when told so', async () => {
  const { relay } = await openCall();
  const abort = new AbortController();
  const counters = () => relay.counters();
  const end = drained({ time: LONG, quiet: LONG, counters, signal: abort.signal });
  abort.abort();
  expect(await end).toBe('told to end at once');
});
