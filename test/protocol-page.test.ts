/** Every example of docs/protocol.md is what the code makes, and is understood by it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { SignedRecords } from '../origin/redis/signed-records.ts';
import { TransceiverRecords } from '../origin/transceiver-record.ts';
import { FlowRecords, flowName } from '../origin/relay/recovery/flow-records.ts';
import { parseAddress } from '../protocol/address.ts';
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { ForwardSchema, SignatureVerifier, parseSigningKey } from '../protocol/signature.ts';
import { TRUNK_HEADER_LENGTH, trunkFrameEnd, writeTrunkHeader } from '../protocol/trunk.ts';
import { UFRAG_EPOCH, UfragCodec } from '../protocol/ufrag.ts';

const MINUTE = 60_000;
const SECOND = 1000;
const CALL = '000102030405060708090a0b0c0d0e0f';
const CLIENT = parseAddress('203.0.113.9');
const PROXY = parseAddress('10.1.0.7');

const page = await readFile(join(import.meta.dirname, '../docs/protocol.md'), 'utf8');
const keys = parseRoutingKeys(one(/routing key `(\S+)`/));
const ufrags = new UfragCodec(keys);

afterEach(() => vi.useRealTimers());

test('routed ufrags', () => {
  const rows = tableOf('Ufrag');
  expect(rows).toHaveLength(2);
  for (const [cluster, transceiver, minutes, nonce, block, ufrag] of rows) {
    const expiresAt = UFRAG_EPOCH + Number(minutes) * MINUTE;
    const route = { cluster: Number(cluster), transceiver: Number(transceiver), expiresAt };
    expect(ufrags.seal(route, Buffer.from(nonce!, 'hex'))).toBe(ufrag);
    expect(ufrags.open(Buffer.from(ufrag!), UFRAG_EPOCH)).toEqual({ ok: true, route });
    expect(ufrags.open(Buffer.from(ufrag!), expiresAt)).toEqual({ ok: false, reason: 'expired' });
    expect(block).toBe(
      Buffer.concat([
        word(cluster!),
        word(transceiver!),
        triple(minutes!),
        Buffer.from(nonce!, 'hex'),
        Buffer.alloc(4),
      ]).toString('hex'),
    );
  }
  const forged = Buffer.from(one(/`(\S{23})` is forged/));
  expect(ufrags.open(forged, UFRAG_EPOCH)).toEqual({ ok: false, reason: 'forged' });
});

test('call ids', async () => {
  const rows = tableOf('Id');
  expect(rows).toHaveLength(2);
  const codec = new CallIdCodec(keys);
  for (const [cluster, transceiver, call, tenant, iv, id] of rows) {
    const ref = {
      cluster: Number(cluster),
      transceiver: Number(transceiver),
      call: call!,
      tenant: tenant!,
    };
    expect(await codec.seal(ref, Buffer.from(iv!, 'hex'))).toBe(id);
    expect(codec.open(id!)).toEqual(ref);
  }
});

test('a frame of the trunk', () => {
  const frame = Buffer.from(one(/^`(c4[0-9a-f]+)`$/m), 'hex');
  const payload = Buffer.from('80000001', 'hex');
  expect(frame).toEqual(Buffer.concat([header(payload.length), payload]));
  expect(trunkFrameEnd(frame, 0, frame.length)).toBe(frame.length);
});

test('a token', async () => {
  const token = one(/^(eyJ\S+)$/m);
  vi.useFakeTimers({ now: 1_800_000_000 * SECOND, toFake: ['Date'] });
  const verifier = new SignatureVerifier(parseSigningKey(one(/the key `(\S{44})`/)), 2);
  expect(await verifier.verify(token, ForwardSchema)).toEqual({
    op: 'end',
    requestId: 'r-1',
    transceiver: 7,
    call: CALL,
    tenant: 'acme',
  });
});

test('records', () => {
  const [place, flow, ...others] = tableOf('Value');
  expect(others).toEqual([]);
  const payload = Buffer.concat([parseAddress('10.1.0.20'), word('4000')]);
  expect(sealed('transceiver', place!, payload)).toBe(place![2]);
  const at = Number(place![1]) * SECOND - 1;
  expect(new TransceiverRecords(1, keys).open(7, Buffer.from(place![2]!, 'hex'), at)).toEqual({
    address: '10.1.0.20',
    port: 4000,
  });

  const ufrag = tableOf('Ufrag')[1]![5]!;
  expect(flow![0]).toBe(flowName(header(1), 0));
  expect(sealed('flow', flow!, Buffer.from(ufrag))).toBe(flow![2]);
  const kept = new FlowRecords(keys).open(flow![0]!, Buffer.from(flow![2]!, 'hex'), UFRAG_EPOCH);
  expect(kept?.route).toMatchObject({ cluster: 2, transceiver: 7 });
});

function sealed(purpose: string, [name, goodUntil]: readonly string[], payload: Buffer): string {
  const records = new SignedRecords(keys, purpose);
  return records.seal(name!, payload, Number(goodUntil) * SECOND).toString('hex');
}

/** Of a packet that came to the listener 0 from the client of the page. */
function header(length: number): Buffer {
  const out = Buffer.alloc(TRUNK_HEADER_LENGTH);
  writeTrunkHeader(out, 0, 0, 0, length, CLIENT, 0, 50_000, PROXY, 0, 3479);
  return out;
}

function one(pattern: RegExp): string {
  return pattern.exec(page)![1]!;
}

/** Rows of the table whose last column has that name, without the marks of code. */
function tableOf(last: string): string[][] {
  const table = new RegExp(
    `^\\|[^\\n]*\\| ${last} +\\|\\n\\|[-| ]+\\|\\n((?:\\|.*\\n)+)`,
    'm',
  ).exec(page);
  const lines = table![1]!.trimEnd().split('\n');
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

function word(text: string): Buffer {
  return Buffer.from(Number(text).toString(16).padStart(4, '0'), 'hex');
}

function triple(text: string): Buffer {
  return Buffer.from(Number(text).toString(16).padStart(6, '0'), 'hex');
}
