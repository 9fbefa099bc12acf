import { expect, test } from 'vitest';
import { Counters } from './counters.ts';
import { check, transactionId } from './testing/packets.ts';
import {
  HOUR,
  KEY,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import { totals } from './testing/totals.ts';

test('tokens are counted by what came of them and the key that sealed them', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const other = { id: 'B', key: Buffer.alloc(16, 'another') };
  const relay = await openRelay({ transceivers, routingKeys: [KEY, other] });
  const client = await openEnd();
  const send = (ufrag: string): void =>
    client.send(check(ufrag, transactionId()), relay.listeners[0]!);

  const ufrag = ufragFor(1, 5);
  await prove(client, relay, ends(5), ufrag);
  await prove(client, relay, ends(5), ufrag);
  send(ufragFor(1, 5, Date.now() + HOUR, other));
  send(`B${ufragFor(1, 5).slice(1)}`);
  send(ufragFor(1, 5, Date.now() + HOUR, { ...KEY, id: 'Z' }));
  send(ufragFor(1, 5, Date.now() - HOUR));
  send('short');

  await eventually(() => {
    expect(relay.counters().tokenChecks).toEqual([
      { result: 'known', keyId: 'A', count: 1 },
      { result: 'ok', keyId: 'A', count: 1 },
      { result: 'ok', keyId: 'B', count: 1 },
      { result: 'malformed', keyId: '', count: 1 },
      { result: 'unknown-key', keyId: '', count: 1 },
      { result: 'forged', keyId: 'B', count: 1 },
      { result: 'expired', keyId: 'A', count: 1 },
    ]);
  });
});

test('a key id that a stranger made up is no label of its own', () => {
  const counters = new Counters();
  for (let id = 0; id < 256; id++) counters.tokenChecks.count('unknown-key', id);
  counters.tokenChecks.count('forged', 200);
  expect(totals(counters).tokenChecks).toEqual([
    { result: 'unknown-key', keyId: '', count: 256 },
    { result: 'forged', keyId: '', count: 1 },
  ]);
});
