/** The built-in demonstration voice: a server of the Realtime protocol, on this machine alone, that says your words back. */
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { ParrotConversation } from './conversation.ts';

const LOOPBACK = '127.0.0.1';

/** Bytes of the largest event taken. */
const MAX_EVENT_BYTES = 1024 * 1024;

/** Bytes that may wait for a reader that is too slow; more ends its conversation. */
const MAX_UNREAD = 8 * 1024 * 1024;

export interface Parrot {
  /** Where to speak with it. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws Error when no port can be had. */
export async function startParrot(): Promise<Parrot> {
  const server = new WebSocketServer({
    host: LOOPBACK,
    port: 0,
    maxPayload: MAX_EVENT_BYTES,
    perMessageDeflate: false,
  });
  server.on('connection', (socket) => {
    const conversation = new ParrotConversation((event) => {
      if (socket.bufferedAmount > MAX_UNREAD) socket.terminate();
      else socket.send(JSON.stringify({ event_id: `event_${randomUUID()}`, ...event }));
    });
    // An error is followed by a close, which ends the conversation.
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => {
      if (!isBinary && data instanceof Buffer) conversation.receive(data.toString());
    });
  });
  await once(server, 'listening');
  return {
    url: `ws://${LOOPBACK}:${portOf(server.address())}`,
    async close() {
      for (const client of server.clients) client.terminate();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return address.port;
}
