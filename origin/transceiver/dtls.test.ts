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
