import { Socket } from 'node:dgram';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { Counters } from './counters.ts';
import { MAX_QUEUED, openDgramIo } from './dgram-io.ts';
import { describeIo } from './testing/io-contract.ts';
import { ANY_PORT, openEnd } from './testing/rig.ts';
import { totals } from './testing/totals.ts';

describeIo('dgram', openDgramIo);

test('what the system does not take is dropped and counted, until it takes it again', async () => {
  const counters = new Counters();
  const io = await openDgramIo({ listeners: [ANY_PORT], trunk: ANY_PORT }, counters);
  onTestFinished(() => io.close());
  const client = await openEnd();
  const { address, port } = client.address;
  const send = (text: string): void =>
    io.sendPublic(0, Buffer.from(text), 0, text.length, parseAddress(address), 0, port);
  // Loopback always takes everything, so a full queue can only be claimed.
  const size = vi.spyOn(Socket.prototype, 'getSendQueueSize').mockReturnValue(MAX_QUEUED);
  onTestFinished(() => size.mockRestore());

  send('lost');
  size.mockReturnValue(MAX_QUEUED - 1);
  send('kept');

  expect((await client.next()).bytes.toString()).toBe('kept');
  expect(totals(counters).drops['queue-full']).toBe(1);
});
