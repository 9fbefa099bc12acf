import { expect, test } from 'vitest';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { RTP, check, replyTo, success, transactionId } from './testing/packets.ts';
import { ANY_PORT, openEnd, openRelay, openTransceivers, prove, ufragFor } from './testing/rig.ts';

const ANY_IPV6_PORT: TrunkAddress = { address: '::1', port: 0 };

test('clients of IPv4 and IPv6 are served on one port, each from the address it sent to', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const first = await openRelay({ transceivers });
  const { port } = first.listeners[0]!;
  await first.close();
  const listeners = ['127.0.0.1', '::1'].map((address) => ({ address, port }));
  const relay = await openRelay({ transceivers, listeners });

  for (const address of ['127.0.0.1', '::1']) {
    const client = await openEnd(address);
    const to = { address, port };
    const id = transactionId();
    client.send(check(ufragFor(1, 5), id), to);
    await ends(5).answerNext(() => success(id));
    expect(await client.next()).toEqual({ bytes: success(id), from: to });
    client.send(RTP, to);
    const { frame, from } = await ends(5).nextFrame();
    expect([frame.client, frame.payload]).toEqual([client.address, RTP]);
    ends(5).send(replyTo(frame, RTP), from);
    expect(await client.next()).toEqual({ bytes: RTP, from: to });
  }
  expect(relay.counters()).toMatchObject({ flows: { tentative: 0, proven: 2 } });
});

test.each([
  ['IPv4', '127.0.0.1', [ANY_PORT, { address: '127.0.0.2', port: 0 }]],
  ['IPv6', '::1', [ANY_IPV6_PORT, ANY_IPV6_PORT]],
])(
  'a client of %s at two addresses of the relay has a flow at each',
  async (_family, address, listeners) => {
    const { transceivers, ends } = await openTransceivers(5, 6);
    const relay = await openRelay({ transceivers, listeners });
    const client = await openEnd(address);
    const paths = [5, 6].map((id, i) => ({ end: ends(id), id, to: relay.listeners[i]! }));
    const at = (to: TrunkAddress) => ({ ...relay, listeners: [to] });

    for (const { end, id, to } of paths) await prove(client, at(to), end, ufragFor(1, id));

    for (const { end, to } of paths) {
      client.send(RTP, to);
      const { frame, from } = await end.nextFrame();
      expect([frame.client, frame.payload]).toEqual([client.address, RTP]);
      end.send(replyTo(frame, RTP), from);
      expect(await client.next()).toEqual({ bytes: RTP, from: to });
    }
    expect(relay.counters()).toMatchObject({ flows: { tentative: 0, proven: 2 }, repointings: 0 });
  },
);

test('a client on IPv4 and one on IPv6 are served over a trunk on IPv6', async () => {
  const trunkEnd = await openEnd('::1');
  const { transceivers } = await openTransceivers();
  transceivers.add(5, trunkEnd.address);
  const listeners = [ANY_PORT, ANY_IPV6_PORT];
  const options = { transceivers, listeners, trunk: ANY_IPV6_PORT, peers: ['::1/128'] };
  const relay = await openRelay(options);

  for (const to of relay.listeners) {
    const client = await openEnd(to.address);
    const id = transactionId();
    client.send(check(ufragFor(1, 5), id), to);
    const up = await trunkEnd.answerNext(() => success(id));
    expect([up.client, up.proxy]).toEqual([client.address, relay.trunk]);
    expect(await client.next()).toEqual({ bytes: success(id), from: to });
  }
});
