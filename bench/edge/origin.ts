/** An origin that takes every call at once, so that nothing but the edge is measured. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** As long as a transceiver's answer. */
const ANSWER = `v=0\r\n${'a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host\r\n'.repeat(20)}`;

export interface InstantOrigin {
  readonly url: string;
  close(): Promise<void>;
}

export async function startInstantOrigin(): Promise<InstantOrigin> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(201, { 'content-type': 'application/sdp', etag: '"1"' }).end(ANSWER);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
