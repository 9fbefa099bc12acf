import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { sumCounters } from './counters.ts';
import { flowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { hasBatchedCalls } from './libc.ts';
import { countSockets } from './port-sharing.ts';
import { openThreads } from './threads.ts';
import { RTP, check, success, transactionId } from './testing/packets.ts';
import {
  ANY_PORT,
  KEY,
  eventually,
  idOf,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';

const THREADS = 3;
const CLIENTS = 40;

describe.runIf(hasBatchedCalls())('several threads', () => {
  test('share the work of clients and of one transceiver', async () => {
    const transceiver = await openEnd();
    const flows = flowMemory();
    const plane = await openThreads(
      { cluster: 1, peers: ['127.0.0.0/8'], routes: [], routingKeys: [KEY], flows },
      { listeners: [ANY_PORT], trunk: ANY_PORT },
      THREADS,
    );
    onTestFinished(() => plane.close());
    plane.place(5, { address: parseAddress('127.0.0.1'), port: transceiver.address.port });
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openEnd()));

    for (const client of clients) {
      client.send(check(ufragFor(1, 5)), plane.listeners[0]!);
      await transceiver.answerNext((up) => success(idOf(up.payload)));
      await client.next();
    }

    const table = new FlowTable(flows);
    expect([table.tentative, table.proven]).toEqual([0, CLIENTS]);
    const each = plane.counters.map((counters) => sumCounters([counters], table));
    expect(each.map(({ fromClients }) => fromClients.packets)).not.toContain(0);
    expect(each.map(({ fromTrunk }) => fromTrunk.packets)).not.toContain(0);
    const { fromClients, toClients } = sumCounters(plane.counters, table);
    expect([fromClients.packets, toClients.packets]).toEqual([CLIENTS, CLIENTS]);
  });

  test('carry each client’s packets by the one table', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const relay = await openRelay({ transceivers, threads: THREADS, io: 'batched' });
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openEnd()));
    for (const client of clients) await prove(client, relay, ends(5), ufragFor(1, 5));

    for (const client of clients) client.send(RTP, relay.listeners[0]!);

    for (let i = 0; i < CLIENTS; i++) await ends(5).answerNext((up) => up.payload);
    for (const client of clients) expect((await client.next()).bytes).toEqual(RTP);
    expect(relay.counters().drops['no-flow']).toBe(0);
  });

  test('know of a transceiver before the packets that are sent after it came', async () => {
    const { transceivers } = await openTransceivers();
    const relay = await openRelay({ transceivers, threads: THREADS, io: 'batched' });
    const client = await openEnd();

    for (let id = 1; id <= CLIENTS; id++) {
      const transceiver = await openEnd();
      transceivers.add(id, transceiver.address);
      client.send(check(ufragFor(1, id), transactionId()), relay.listeners[0]!);
      await transceiver.nextFrame();
    }

    expect(relay.counters().drops['unknown-transceiver']).toBe(0);
  });

  test('close once, and leave their ports to others', async () => {
    const relay = await openRelay({ threads: THREADS, io: 'batched' });
    await Promise.all([relay.close(), relay.close()]);
    const again = await openRelay({ listeners: relay.listeners, trunk: relay.trunk });
    expect(again.trunk).toEqual(relay.trunk);
  });

  test('that retire leave their addresses to those that took them over, and to no others', async () => {
    const transceiver = await openEnd();
    const hop = { address: parseAddress('127.0.0.1'), port: transceiver.address.port };
    const setup = { cluster: 1, peers: ['127.0.0.0/8'], routes: [], routingKeys: [KEY] as const };
    const open = async (listener: TrunkAddress, trunk: TrunkAddress, beside: boolean) => {
      const plane = await openThreads(
        { ...setup, flows: flowMemory() },
        { listeners: [listener], trunk, beside },
        THREADS,
      );
      onTestFinished(() => plane.close());
      plane.place(5, hop);
      return plane;
    };
    const first = await open(ANY_PORT, ANY_PORT, false);
    const listener = first.listeners[0]!;
    const second = await open(listener, first.trunk, true);
    second.takeOver?.();
    first.retire?.();
    await eventually(() => expect(countSockets(listener)).toBe(THREADS));
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openEnd()));
    for (const client of clients) {
      client.send(check(ufragFor(1, 5)), listener);
      await transceiver.answerNext((up) => success(idOf(up.payload)));
      await client.next();
    }

    await open(listener, first.trunk, true);
    for (const client of clients) client.send(RTP, listener);
    for (let i = 0; i < CLIENTS; i++) await transceiver.nextFrame();

    const { drops } = sumCounters(second.counters, new FlowTable(flowMemory()));
    expect(drops['no-flow']).toBe(0);
  });

  test('do not keep a process that exits', async () => {
    const script = new URL('testing/exit-while-forwarding.ts', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    expect(stdout).toBe('forwarding\n');
  });
});

describe.runIf(hasBatchedCalls())('a thread that cannot start', () => {
  test('is told of, and leaves no socket open', async () => {
    const holder = await openEnd();
    const free = holder.address;
    await holder.close();
    const routes = [{ cluster: 2, region: 'eu-central-1', relays: [ANY_PORT] }];

    await expect(
      openRelay({ trunk: free, routes, io: 'batched', threads: THREADS }),
    ).rejects.toThrow('The route to eu-central-1 has 127.0.0.1 port 0');

    await openRelay({ trunk: free, io: 'batched' });
  });
});
