/** A back end of the Realtime protocol that does what a test tells it, over a real WebSocket. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';

export interface ReceivedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface RealtimeServer extends AsyncDisposable {
  readonly url: string;
  /** Requests to open a conversation, in order. */
  readonly requests: readonly IncomingMessage[];
  /** Events of all conversations, in order. */
  readonly events: readonly ReceivedEvent[];
  /** Answers requests with that status; undefined takes them. */
  refusal: number | undefined;
  /** To the conversation that is open: an event, or text as it is. */
  send(event: ReceivedEvent | string): void;
  /** Breaks the conversation that is open. */
  drop(): void;
}

export async function realtimeServer(): Promise<RealtimeServer> {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const requests: IncomingMessage[] = [];
  const events: ReceivedEvent[] = [];
  let current: WebSocket | undefined;
  http.on('upgrade', (request, socket, head) => {
    requests.push(request);
    if (server.refusal !== undefined) {
      socket.end(`HTTP/1.1 ${server.refusal} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      current = opened;
      opened.on('message', (data) => {
        if (data instanceof Buffer) events.push(JSON.parse(data.toString()));
      });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  const server: RealtimeServer = {
    url: `ws://127.0.0.1:${address.port}`,
    requests,
    events,
    refusal: undefined,
    send: (event) => current!.send(typeof event === 'string' ? event : JSON.stringify(event)),
    drop: () => current!.terminate(),
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      const closed = once(http, 'close');
      http.close();
      await closed;
    },
  };
  return server;
}
