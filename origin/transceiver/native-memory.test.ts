/** That calls leave no native memory, by the word of the allocator itself. */
import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import koffi from 'koffi';
import { expect, test, vi } from 'vitest';
import { createCertificate } from './certificate.ts';
import { DtlsContext } from './dtls-context.ts';
import { DtlsEndpoint } from './dtls.ts';
import { liveNativeObjects } from './native-objects.ts';
import { Srtp } from './srtp.ts';

vi.setConfig({ testTimeout: 120_000 });

const CALLS = 1_000;
/** Bytes; one SSL has over ten thousand, one cipher context hundreds. */
const NOISE_PER_CALL = 200;

const FIELDS = ['arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks'];

/** Bytes that malloc has given out; undefined where the C library does not tell. */
function allocated(): number | undefined {
  try {
    const names = [...FIELDS, 'fordblks', 'keepcost'];
    const info = koffi.struct(Object.fromEntries(names.map((it) => [it, 'size_t'])));
    const told: Record<string, number> = koffi.load(null).func('mallinfo2', info, [])();
    return told['uordblks']! + told['hblkhd']!;
  } catch {
    return undefined;
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
}

test.skipIf(allocated() === undefined)('a thousand calls leave no native memory', async () => {
  const certificate = await createCertificate();
  const context = new DtlsContext(certificate);
  const digest = createHash('sha256').update(certificate.der).digest();
  let secured = 0;
  const call = () => {
    const queue: (() => void)[] = [];
    const end = (role: 'client' | 'server', other: () => DtlsEndpoint): DtlsEndpoint =>
      new DtlsEndpoint(context, role, [{ hash: 'sha-256', digest }], {
        send: (datagram) => queue.push(() => other().receive(datagram)),
        connected(keys) {
          secured++;
          new Srtp(keys!).close();
        },
        data: () => undefined,
        closed: () => undefined,
      });
    const client: DtlsEndpoint = end('client', () => server);
    const server: DtlsEndpoint = end('server', () => client);
    client.start();
    for (let next = queue.shift(); next; next = queue.shift()) next();
    client.close();
    server.close();
  };
  for (let i = 0; i < CALLS / 5; i++) call();
  collectGarbage();
  const before = allocated()!;
  for (let i = 0; i < CALLS; i++) call();
  collectGarbage();
  expect((allocated()! - before) / CALLS).toBeLessThan(NOISE_PER_CALL);
  expect(secured).toBe(2 * 1.2 * CALLS);
  expect(liveNativeObjects()).toEqual({ 'dtls-context': 1, 'dtls-endpoint': 0, 'srtp-context': 0 });
  context.close();
});
