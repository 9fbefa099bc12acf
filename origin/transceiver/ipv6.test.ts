/** Clients that have no IPv4; the trunk behind the relay stays what it is. */
import { networkInterfaces } from 'node:os';
import { expect, test, vi } from 'vitest';
import { RelayShim } from './testing/relay-shim.ts';
import { openStage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 60_000 });

const LOOPBACK = '::1';

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === LOOPBACK),
);

test.skipIf(!hasIPv6)('a client over IPv6 is told so, and talks', async () => {
  await using stage = await openStage();
  const relay = await RelayShim.open(stage.transceiver.trunk, LOOPBACK);
  await using client = await weriftClient({ ipv6: true });
  const { answer, call } = stage.create(client.offer, { relays: [relay.candidate] });
  expect(answer).toContain(`c=IN IP6 ${LOOPBACK}\r\n`);
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  client.channel.send('hello');
  await until(() => client.messages.includes('hello'));
  client.speak(Buffer.from('and heard'));
  await until(() => client.audio.length > 0);
  expect(stage.session(call)!.client?.address).toBe(LOOPBACK);
  await relay.close();
});
