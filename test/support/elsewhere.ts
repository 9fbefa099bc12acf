/** A web server of another origin than the edge, for pages that are not the edge's own. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

export interface Elsewhere {
  /** Of its first page. */
  readonly url: string;
  close(): void;
}

export async function serveElsewhere(listener: RequestListener): Promise<Elsewhere> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}/`, close: () => void server.close() };
}
