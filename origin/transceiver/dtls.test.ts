import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCertificate, type Certificate } from './certificate.ts';
import { DtlsContext, liveDtlsObjects } from './dtls-context.ts';
import { DTLS_MTU, DtlsEndpoint, type SrtpKeys } from './dtls.ts';
import type { Fingerprint } from './fingerprint.ts';
import { until } from './testing/until.ts';

vi.setConfig({ testTimeout: 60_000 });

let certificate: Certificate;
let context: DtlsContext;
beforeEach(async () => {
  certificate = await createCertificate();
  context = new DtlsContext(certificate);
});
afterEach(() => {
  context.close();
  if (liveDtlsObjects() > 0) throw new Error('native objects are left over');
});

const digests = (hash: 'sha-256' | 'sha-384' | 'sha-512'): Fingerprint => ({
  hash,
  digest: createHash(hash.replace('-', '')).update(certificate.der).digest(),
});

/** Two endpoints that share a certificate, over a line that may lose datagrams. */
function line(fingerprint: Fingerprint, keeps: (datagram: Buffer) => boolean = () => true) {
  const sent: Buffer[] = [];
  const end = (role: 'client' | 'server', other: () => DtlsEndpoint) => {
    const state = {
      keys: undefined as SrtpKeys | undefined,
      data: [] as string[],
      closed: undefined as string | undefined,
    };
    const endpoint = new DtlsEndpoint(context, role, [fingerprint], {
      send(datagram) {
        sent.push(datagram);
        if (keeps(datagram)) setImmediate(() => other().receive(datagram));
      },
      connected: (keys) => (state.keys = keys),
      data: (message) => state.data.push(message.toString()),
      closed: (reason, detail) => (state.closed = detail ?? reason),
    });
    return { state, endpoint };
  };
  const client: ReturnType<typeof end> = end('client', () => server.endpoint);
  const server: ReturnType<typeof end> = end('server', () => client.endpoint);
  client.endpoint.start();
  server.endpoint.start();
  const close = () => {
    client.endpoint.close();
    server.endpoint.close();
  };
  return { client, server, sent, close };
}

test.each(['sha-256', 'sha-384', 'sha-512'] as const)('connects, proven by %s', async (hash) => {
  const { client, server, sent, close } = line(digests(hash));
  await until(() => client.state.keys && server.state.keys);
  const [ours, theirs] = [client.state.keys!, server.state.keys!];
  expect(ours.profile).toBe(7);
  expect(ours.localKey).toEqual(theirs.remoteKey);
  expect(ours.remoteSalt).toEqual(theirs.localSalt);
  expect(ours.localKey).not.toEqual(ours.remoteKey);
  expect(Math.max(...sent.map((it) => it.length))).toBeLessThanOrEqual(DTLS_MTU);
  client.endpoint.send(Buffer.from('hello'));
  await until(() => server.state.data.length === 1);
  server.endpoint.close();
  await until(() => client.state.closed);
  expect(client.state.closed).toBe('client-hangup');
  close();
});

test('the certificate says its fingerprint as SDP does', () => {
  const hex = createHash('sha256').update(certificate.der).digest('hex').toUpperCase();
  expect(certificate.fingerprint).toBe(hex.match(/../g)!.join(':'));
});

test('another fingerprint is refused by both ends', async () => {
  const wrong = { hash: 'sha-256', digest: Buffer.alloc(32) } as const;
  const { client, server, close } = line(wrong);
  await until(() => server.state.closed);
  expect(server.state.closed).toMatch('fingerprint');
  expect(server.state.keys).toBeUndefined();
  expect(client.state.keys).toBeUndefined();
  close();
});

test('lost flights are sent again', async () => {
  let count = 0;
  const { client, server, sent, close } = line(
    digests('sha-256'),
    () => ++count > 2 && count % 7 !== 3,
  );
  await until(() => client.state.keys && server.state.keys);
  expect(sent.length).toBeGreaterThan(4);
  close();
});

test('an endpoint that is closed in its handshake falls silent', () => {
  const { client, server, close } = line(digests('sha-256'));
  close();
  client.endpoint.receive(Buffer.from([22, 254, 253]));
  client.endpoint.send(Buffer.from('x'));
  expect(server.state.closed).toBeUndefined();
  expect(liveDtlsObjects()).toBe(1);
});

const ROLES = ['client', 'server'] as const;

/** Both ends done, and all that they sent. */
async function connected() {
  const it = line(digests('sha-256'));
  await until(() => it.client.state.keys && it.server.state.keys);
  return it;
}

test('each datagram of a handshake may be lost', async () => {
  const { sent, close } = await connected();
  const flights = sent.length;
  close();
  for (let lost = 0; lost < flights; lost++) {
    let at = 0;
    const it = line(digests('sha-256'), () => at++ !== lost);
    await until(() => it.client.state.keys && it.server.state.keys);
    expect(it.sent.length).toBeGreaterThan(flights);
    it.close();
  }
});

test.each(ROLES)(
  'replays, forgeries and late plaintext leave a %s alone, and are counted',
  async (role) => {
    const it = await connected();
    const [target, other] = [it[role], it[role === 'client' ? 'server' : 'client']];
    const handshake = [...it.sent];
    other.endpoint.send(Buffer.from('once'));
    const genuine = it.sent.at(-1)!;
    await until(() => target.state.data.length === 1);
    const forged = Buffer.from(genuine);
    forged[forged.length - 1]! ^= 1;
    forged.writeUIntBE(99, 5, 6);
    for (const datagram of [genuine, genuine, forged, ...handshake, Buffer.alloc(40, 22)]) {
      target.endpoint.receive(Buffer.from(datagram));
    }
    expect(target.endpoint.drops).toMatchObject({ replayed: 2, 'not-authentic': 1 });
    expect(target.endpoint.drops['late-plaintext']).toBeGreaterThan(4);
    expect(target.endpoint.drops['not-a-record']).toBe(1);
    other.endpoint.send(Buffer.from('still here'));
    await until(() => target.state.data.length === 2);
    expect(target.state).toMatchObject({ data: ['once', 'still here'], closed: undefined });
    it.close();
  },
);

test.each(ROLES)('the close_notify of a %s ends the other', async (role) => {
  const it = await connected();
  const other = it[role === 'client' ? 'server' : 'client'];
  it[role].endpoint.close();
  await until(() => other.state.closed);
  expect(other.state.closed).toBe('client-hangup');
  it.close();
});

test('a hello that cannot be answered draws nothing, and the true one is still answered', async () => {
  const { sent, close } = await connected();
  close();
  const spoofed = Buffer.from(sent[0]!);
  // Its cipher suites: after two versions and headers, 32 random bytes, a session id and a cookie.
  const suitesAt = 13 + 12 + 2 + 32 + 1 + 1 + 2;
  spoofed.fill(0x7a, suitesAt, suitesAt + spoofed.readUInt16BE(suitesAt - 2));
  const it = line(digests('sha-256'), () => false);
  const before = it.sent.length;
  it.server.endpoint.receive(spoofed);
  it.server.endpoint.receive(spoofed);
  expect(it.sent.length).toBe(before);
  expect(it.server.endpoint.drops['refused-hello']).toBe(2);
  expect(it.server.state.closed).toBeUndefined();
  it.server.endpoint.receive(sent[0]!);
  expect(it.sent.length).toBeGreaterThan(before);
  it.close();
});

test('hellos that cross leave a client alone', async () => {
  const { sent, close } = await connected();
  close();
  const it = line(digests('sha-256'));
  it.client.endpoint.receive(sent[0]!);
  await until(() => it.client.state.keys && it.server.state.keys);
  expect(it.client.endpoint.drops['unwanted-plaintext']).toBe(1);
  it.close();
});

test('no datagram is longer than a tunnel carries', async () => {
  const it = await connected();
  it.client.endpoint.send(Buffer.alloc(1_120));
  expect(Math.max(...it.sent.map(({ length }) => length))).toBeLessThan(1_160);
  it.close();
});

test.each([
  ['client', { client: 4, server: 3 }],
  ['server', { client: 5, server: 4 }],
] as const)('half round trips from a first check to keys, when we are the %s', (role, ends) => {
  // Time goes by in half round trips; the check has just arrived, and its answer takes one.
  const arrived = { client: 0, server: 0 };
  let now = role === 'client' ? 0 : 1;
  let underway: (() => void)[] = [];
  const end = (own: 'client' | 'server', other: () => DtlsEndpoint): DtlsEndpoint =>
    new DtlsEndpoint(context, own, [digests('sha-256')], {
      send: (datagram) => underway.push(() => other().receive(datagram)),
      connected: () => (arrived[own] = now),
      data: () => undefined,
      closed: () => undefined,
    });
  const client: DtlsEndpoint = end('client', () => server);
  const server: DtlsEndpoint = end('server', () => client);
  client.start();
  while (underway.length > 0) {
    const due = underway;
    underway = [];
    now++;
    for (const arrive of due) arrive();
  }
  expect(arrived).toEqual(ends);
  client.close();
  server.close();
});
