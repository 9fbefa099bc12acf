// The origin speaks the signed contract and makes no media.
import { on, once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CallIdCodec } from '../../protocol/call-id.ts';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import { MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import {
  ANSWER,
  FIRST_TAG,
  NEW_FRAGMENT,
  OFFER,
  openCallStage,
  refusal,
  SECOND_TAG,
  willing,
  type CallStage,
} from '../testing/call-stage.ts';
import { ROUTING_KEYS } from '../testing/local-edge.ts';
import { MAX_MESSAGE, MAX_PROBLEMS, MAX_WAITING } from './conversation.ts';

let stage: CallStage;
const clients: Client[] = [];

beforeAll(async () => {
  stage = await openCallStage();
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));
afterEach(() => {
  for (const client of clients.splice(0)) client.socket.terminate();
});

/** Says messages and hears the answers one by one. */
class Client {
  readonly socket: WebSocket;
  readonly closed: Promise<unknown[]>;
  readonly #heard: AsyncIterableIterator<unknown[]>;

  constructor() {
    this.socket = new WebSocket(`${stage.edge.url.replace('http', 'ws')}/v1/signal`);
    this.closed = once(this.socket, 'close');
    this.closed.catch(() => undefined);
    this.#heard = on(this.socket, 'message', { close: ['close'] });
    clients.push(this);
  }

  static async open(): Promise<Client> {
    const client = new Client();
    await once(client.socket, 'open');
    return client;
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async hear(): Promise<Record<string, unknown>> {
    const { value } = await this.#heard.next();
    return JSON.parse(String(value?.[0]));
  }

  async ask(message: unknown): Promise<Record<string, unknown>> {
    this.say(message);
    return this.hear();
  }

  async place(): Promise<string> {
    const { call } = await this.ask({ type: 'offer', sdp: OFFER });
    return String(call);
  }

  async closeCode(): Promise<unknown> {
    return (await this.closed)[0];
  }
}

const ops = () => stage.origin.requests.map(({ claims }) => claims.op);

const anError = (status: number, name: string) => ({
  type: 'error',
  problem: expect.objectContaining({ status, type: `urn:global-relay:problem:${name}` }),
});

it('is for WebSockets alone', async () => {
  const response = await stage.edge.fetch('/v1/signal');
  expect(response.status).toBe(426);
  await response.text();
});

describe('a call', () => {
  it('goes from offer to bye', async () => {
    const client = await Client.open();
    const answer = await client.ask({ type: 'offer', sdp: OFFER });
    expect(answer).toEqual({
      type: 'answer',
      call: expect.stringMatching(/^[\w-]{65,}$/),
      sdp: ANSWER,
      etag: FIRST_TAG,
    });
    client.say({
      type: 'candidate',
      candidate: { candidate: 'candidate:1 1 udp 1 ::1 9 typ host' },
    });
    client.say({ type: 'candidate', candidate: null });
    expect(await client.ask({ type: 'restart', sdp: OFFER })).toEqual({
      type: 'restarted',
      fragment: NEW_FRAGMENT,
      etag: SECOND_TAG,
    });
    const [create, restart] = stage.origin.requests;
    expect(create!.body).toBe(OFFER);
    expect(restart).toMatchObject({
      method: 'PATCH',
      claims: { op: 'restart', call: create!.claims.call },
      body: [
        'a=ice-ufrag:qYcw',
        'a=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL',
        'm=audio 9 UDP/TLS/RTP/SAVPF 111',
        'a=mid:0',
        '',
      ].join('\r\n'),
    });
    expect(await client.ask({ type: 'bye' })).toEqual({ type: 'bye' });
    expect(await client.closeCode()).toBe(1000);
    expect(ops()).toEqual(['create', 'restart', 'end']);
  });

  it('outlives its connection, and is resumed by another', async () => {
    const first = await Client.open();
    const call = await first.place();
    first.socket.terminate();
    await first.closed;
    const second = await Client.open();
    expect(await second.ask({ type: 'resume', call })).toEqual({ type: 'resumed', call });
    expect(await second.ask({ type: 'restart', sdp: OFFER })).toMatchObject({ type: 'restarted' });
    expect(await second.ask({ type: 'bye' })).toEqual({ type: 'bye' });
    expect(ops()).toEqual(['create', 'restart', 'end']);
  });

  it('is the same by HTTP', async () => {
    const client = await Client.open();
    const call = await client.place();
    const response = await stage.edge.fetch(`/v1/calls/${call}`, { method: 'DELETE' });
    expect(response.status).toBe(200);
    stage.origin.behave(() => refusal('call-not-found'));
    expect(await client.ask({ type: 'restart', sdp: OFFER })).toEqual(
      anError(404, 'call-not-found'),
    );
  });

  it('is answered in the order of what is said', async () => {
    const client = await Client.open();
    client.say({ type: 'offer', sdp: OFFER });
    client.say({ type: 'restart', sdp: OFFER });
    client.say({ type: 'bye' });
    const types = [
      (await client.hear()).type,
      (await client.hear()).type,
      (await client.hear()).type,
    ];
    expect(types).toEqual(['answer', 'restarted', 'bye']);
  });
});

describe('what is wrong is told, and the connection goes on', async () => {
  const foreign = await new CallIdCodec(parseRoutingKeys(ROUTING_KEYS)).seal({
    cluster: 2,
    transceiver: 21,
    call: '0'.repeat(32),
    tenant: 'another',
  });

  it.each<[string, unknown, [number, string]]>([
    ['bad JSON', '{"type":', [400, 'malformed-request']],
    ['nothing', '', [400, 'malformed-request']],
    ['no object', '[1]', [400, 'malformed-request']],
    ['deep JSON', '['.repeat(50_000), [400, 'malformed-request']],
    ['no type', {}, [400, 'malformed-request']],
    ['an unknown type', { type: 'hello' }, [400, 'malformed-request']],
    ['an offer without SDP', { type: 'offer' }, [400, 'malformed-request']],
    ['an offer that is no text', { type: 'offer', sdp: 1 }, [400, 'malformed-request']],
    ['an offer that is none', { type: 'offer', sdp: 'hello' }, [400, 'malformed-offer']],
    [
      'a large offer',
      { type: 'offer', sdp: `v=0\r\n${'a'.repeat(MAX_OFFER_BYTES)}` },
      [413, 'offer-too-large'],
    ],
    ['a candidate before a call', { type: 'candidate', candidate: null }, [409, 'conflict']],
    ['a restart before a call', { type: 'restart', sdp: OFFER }, [409, 'conflict']],
    ['a bye before a call', { type: 'bye' }, [409, 'conflict']],
    ['an id that was never given out', { type: 'resume', call: 'x' }, [404, 'call-not-found']],
    ['the id of another tenant', { type: 'resume', call: foreign }, [404, 'call-not-found']],
  ])('%s', async (_, message, [status, name]) => {
    const client = await Client.open();
    expect(await client.ask(message)).toEqual(anError(status, name));
    expect(stage.origin.requests).toEqual([]);
    expect(await client.ask({ type: 'offer', sdp: OFFER })).toMatchObject({ type: 'answer' });
  });

  it('a second call', async () => {
    const client = await Client.open();
    await client.place();
    const other = await Client.open();
    const call = await other.place();
    expect(await client.ask({ type: 'offer', sdp: OFFER })).toEqual(anError(409, 'conflict'));
    expect(await client.ask({ type: 'resume', call })).toEqual(anError(409, 'conflict'));
  });

  it('what the transceiver refuses', async () => {
    const client = await Client.open();
    await client.place();
    stage.origin.behave(() => refusal('conflict'));
    expect(await client.ask({ type: 'restart', sdp: OFFER })).toEqual(anError(409, 'conflict'));
    stage.origin.behave(() => ({ status: 500 }));
    expect(await client.ask({ type: 'bye' })).toEqual(anError(502, 'bad-gateway'));
    stage.origin.behave(willing);
    expect(await client.ask({ type: 'bye' })).toEqual({ type: 'bye' });
  });
});

describe('a connection is closed', () => {
  it('for bytes', async () => {
    const client = await Client.open();
    client.socket.send(Buffer.from('{"type":"bye"}'));
    expect(await client.hear()).toEqual(anError(400, 'malformed-request'));
    expect(await client.closeCode()).toBe(1003);
  });

  it('for a message beyond all offers', async () => {
    const client = await Client.open();
    expect(await client.ask('x'.repeat(MAX_MESSAGE + 1))).toEqual(
      anError(400, 'malformed-request'),
    );
    expect(await client.closeCode()).toBe(1009);
  });

  it('for more problems than it may cause', async () => {
    const client = await Client.open();
    for (let i = 0; i < MAX_PROBLEMS; i++) {
      expect(await client.ask({ type: 'offer', sdp: 'hello' })).toEqual(
        anError(400, 'malformed-offer'),
      );
    }
    expect(await client.closeCode()).toBe(1008);
  });

  it('for more messages than may wait', async () => {
    const client = await Client.open();
    stage.origin.behave(() => 'never');
    client.say({ type: 'offer', sdp: OFFER });
    for (let i = 0; i < MAX_WAITING; i++) client.say({ type: 'bye' });
    expect(await client.hear()).toEqual(anError(400, 'malformed-request'));
    expect(await client.closeCode()).toBe(1008);
  });
});
