/** What the edge asks, answered at once, so that nothing but the edge is measured. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** As long as a transceiver's answer. */
const ANSWER = `v=0\r\n${'a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host\r\n'.repeat(20)}`;

export interface Answering {
  /** Address and port. */
  readonly host: string;
  close(): Promise<void>;
}

/** Takes every call, and answers as a transceiver does, which tells the length of what it sends. */
export function startInstantOrigin(): Promise<Answering> {
  const headers = {
    'content-type': 'application/sdp',
    etag: '"1"',
    'server-timing': 'answer;dur=1.0',
    'content-length': Buffer.byteLength(ANSWER),
  };
  return answer((request, response) => {
    request.resume().on('end', () => response.writeHead(201, headers).end(ANSWER));
  });
}

/** A KV namespace with these values, as workerd reads it. */
export function startNamespace(values: Readonly<Record<string, string>>): Promise<Answering> {
  return answer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://namespace');
    const value = values[decodeURIComponent(pathname.slice(1))];
    response.writeHead(value === undefined ? 404 : 200).end(value);
  });
}

async function answer(listener: RequestListener): Promise<Answering> {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    host: `127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
