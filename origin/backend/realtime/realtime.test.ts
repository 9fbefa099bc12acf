/** The client of the Realtime protocol over a real WebSocket; the call beside it is made of its interface alone. */
import * as fc from 'fast-check';
import { pino } from 'pino';
import { onTestFinished, expect, test } from 'vitest';
import type { AudioPacket } from '../backend.ts';
import { startParrot } from '../parrot/parrot.ts';
import { openCall } from '../testing/open-call.ts';
import { realtimeServer, type ReceivedEvent } from '../testing/realtime-server.ts';
import { until } from '../../transceiver/testing/until.ts';

const FRAME_MS = 20;
const PCMU_FRAME = FRAME_MS * 8;

function delta(response: string, ms: number): ReceivedEvent {
  const sound = Buffer.alloc(ms * 8, 0x11).toString('base64');
  const at = { response_id: response, item_id: `${response} item`, content_index: 0 };
  return { type: 'response.output_audio.delta', ...at, delta: sound };
}

const done = (id: string): ReceivedEvent => ({ type: 'response.done', response: { id } });

const isSound = ({ payload }: AudioPacket) => payload.includes(0x11);

test('formats are agreed on first, and the key is shown', async () => {
  await using server = await realtimeServer();
  const session = { instructions: 'Be brief.', audio: { output: { voice: 'alloy' } } };
  openCall({ url: server.url, apiKey: 'secret', session });
  await until(() => server.events.length > 0);
  expect(server.requests[0]!.headers.authorization).toBe('Bearer secret');
  const format = { type: 'audio/pcmu' };
  expect(server.events[0]).toEqual({
    type: 'session.update',
    session: {
      type: 'realtime',
      instructions: 'Be brief.',
      audio: { input: { format }, output: { voice: 'alloy', format } },
    },
  });
});

test('what the client says goes in as it is in G.711', async () => {
  await using server = await realtimeServer();
  const { session } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  const payload = Uint8Array.from({ length: PCMU_FRAME }, (_, i) => i);
  session.audio({ payload, sequenceNumber: 1, timestamp: 0, marker: true });
  await until(() => server.events.some(({ type }) => type === 'input_audio_buffer.append'));
  const { audio } = server.events.find(({ type }) => type === 'input_audio_buffer.append')!;
  expect(audio).toBe(Buffer.from(payload).toString('base64'));
});

test('a response is played at the pace of speech, with its start and end told', async () => {
  await using server = await realtimeServer();
  const { said, types, told } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  server.send(delta('a', 200));
  server.send(delta('a', 190));
  server.send(done('a'));
  await until(() => types().includes('output_audio_buffer.stopped'));
  expect(types()).toEqual(
    ['response.done', 'output_audio_buffer.started', 'output_audio_buffer.stopped'].toSorted(
      (a, b) => types().indexOf(a) - types().indexOf(b),
    ),
  );
  expect(told.some(({ delta: sound }) => sound !== undefined)).toBe(false);
  const sound = said.filter(isSound);
  expect(sound).toHaveLength(20);
  expect(sound[0]!.marker).toBe(true);
  const steps = sound.slice(1).map((it, i) => it.timestamp - sound[i]!.timestamp);
  for (const step of steps) expect(step % PCMU_FRAME).toBe(0);
  expect(sound.at(-1)!.payload.subarray(80)).toEqual(new Uint8Array(80).fill(0xff));
});

test('speech of the client cuts the response off where it was heard to', async () => {
  await using server = await realtimeServer();
  const { said, types, session } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  server.send(delta('a', 4_000));
  await until(() => said.length >= 10);
  server.send({ type: 'input_audio_buffer.speech_started' });
  await until(() => types().includes('output_audio_buffer.cleared'));
  const played = said.filter(isSound).length;
  server.send(delta('a', 1_000));
  server.send(done('a'));
  server.send(delta('b', 100));
  server.send(done('b'));
  await until(() => types().includes('output_audio_buffer.stopped'));
  expect(said.filter(isSound).length).toBe(played + 5);
  await until(() => server.events.some(({ type }) => type === 'conversation.item.truncate'));
  expect(server.events.find(({ type }) => type === 'conversation.item.truncate')).toEqual({
    type: 'conversation.item.truncate',
    item_id: 'a item',
    content_index: 0,
    audio_end_ms: played * FRAME_MS,
  });

  server.send(delta('c', 4_000));
  await until(() => said.filter(isSound).length > played + 5);
  session.data('oai-events', '{"type":"output_audio_buffer.clear"}');
  expect(types().filter((it) => it === 'output_audio_buffer.cleared')).toHaveLength(2);
});

test('a session that does not interrupt goes on', async () => {
  await using server = await realtimeServer();
  const { types, said } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  const turn_detection = { type: 'server_vad', interrupt_response: false };
  server.send({ type: 'session.updated', session: { audio: { input: { turn_detection } } } });
  server.send(delta('a', 200));
  server.send({ type: 'input_audio_buffer.speech_started' });
  server.send(done('a'));
  await until(() => types().includes('output_audio_buffer.stopped'));
  expect(said.filter(isSound)).toHaveLength(10);
});

test('events of the client pass, but none that would change the sound', async () => {
  await using server = await realtimeServer();
  const { session, told, types } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  session.data('other', '{"type":"response.create"}');
  session.data('oai-events', 'no event');
  session.data('oai-events', '{"type":"input_audio_buffer.append","audio":""}');
  const format = { type: 'audio/pcm', rate: 24_000 };
  const update = { instructions: 'New.', audio: { input: { format } } };
  session.data('oai-events', JSON.stringify({ type: 'session.update', session: update }));
  session.data('oai-events', '{"type":"response.create","response":{}}');
  await until(() => server.events.some(({ type }) => type === 'response.create'));
  expect(server.events.slice(1)).toMatchObject([
    {
      type: 'session.update',
      session: { instructions: 'New.', audio: { input: { format: { type: 'audio/pcmu' } } } },
    },
    { type: 'response.create', response: {} },
  ]);
  expect(types()).toEqual(['error', 'error']);
  expect(told[0]).toMatchObject({ error: { code: 'invalid_event' } });
});

test('a link that breaks is opened anew, and the client is told', async () => {
  await using server = await realtimeServer();
  const { session, told, failures, types } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  session.data('oai-events', '{"type":"session.update","session":{"instructions":"Stay."}}');
  await until(() => server.events.length > 1);
  server.send(delta('a', 4_000));
  await until(() => types().includes('output_audio_buffer.started'));
  server.drop();
  await until(() => server.events.length > 2);
  expect(server.events[2]).toMatchObject({
    type: 'session.update',
    session: { instructions: 'Stay.' },
  });
  expect(types()).toContain('output_audio_buffer.cleared');
  expect(told.at(-1)).toMatchObject({ type: 'error', error: { code: 'backend_lost' } });
  expect(failures).toEqual([]);
});

test.each([
  { status: 401, attempts: 1 },
  { status: 503, attempts: 5 },
])('a back end that answers $status ends the call after $attempts attempts', async (scene) => {
  await using server = await realtimeServer();
  server.refusal = scene.status;
  const { failures, told } = openCall({ url: server.url });
  await until(() => failures.length > 0);
  expect(failures).toEqual([`The back end cannot be reached: it answered ${scene.status}.`]);
  expect(server.requests).toHaveLength(scene.attempts);
  expect(told.at(-1)).toMatchObject({ type: 'error', error: { code: 'backend_failed' } });
  expect(JSON.stringify(told.at(-1))).not.toContain(`${scene.status}`);
});

test('whatever a back end sends, the call goes on', async () => {
  await using server = await realtimeServer();
  const { types, failures } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  const known = fc.constantFrom(
    'response.output_audio.delta',
    'response.audio.done',
    'response.done',
    'session.updated',
    'input_audio_buffer.speech_started',
  );
  const shape = fc.record(
    { type: known, response_id: fc.jsonValue(), item_id: fc.jsonValue(), delta: fc.string() },
    { requiredKeys: ['type'] },
  );
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    shape.map((it) => JSON.stringify(it)),
  );
  for (const text of fc.sample(texts, 500)) server.send(text);
  server.send('{"type":"response.audio.delta","response_id":"a","item_id":"i","delta":"%%%"}');
  server.send(delta('end', 40));
  server.send(done('end'));
  await until(() => types().includes('output_audio_buffer.stopped'));
  expect(failures).toEqual([]);
});

test('a back end that sends no events does not fill the log', async () => {
  await using server = await realtimeServer();
  const lines: string[] = [];
  const { types } = openCall({
    url: server.url,
    log: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
  });
  await until(() => server.events.length > 0);
  for (let i = 0; i < 100; i++) server.send('no event');
  server.send({ type: 'anything' });
  await until(() => types().includes('anything'));
  expect(lines).toHaveLength(1);
});

test('an event that is too large breaks the link, and nothing else', async () => {
  await using server = await realtimeServer();
  const { told, failures } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  server.send(`{"type":"${'x'.repeat(5_000_000)}"}`);
  await until(() => server.requests.length === 2);
  expect(told.at(-1)).toMatchObject({ error: { code: 'backend_lost' } });
  expect(failures).toEqual([]);
});

test('an event that nests too deep is refused, and neither back end nor call is harmed', async () => {
  const parrot = await startParrot();
  onTestFinished(() => parrot.close());
  const { session, told, types, failures } = openCall({ url: parrot.url });
  await until(() => types().includes('session.updated'));
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  session.data('oai-events', `{"type":"session.update","session":{"a":${deep}}}`);
  session.data('oai-events', `{"type":"conversation.item.create","item":{"type":"a","b":${deep}}}`);
  const refusals = () => told.filter(({ type }) => type === 'error');
  await until(() => refusals().length === 2);
  session.data('oai-events', '{"type":"conversation.item.create","item":{"type":"message"}}');
  await until(() => types().includes('conversation.item.added'));
  expect(failures).toEqual([]);
});

const bug = () => {
  throw new Error('A bug.');
};

test('what is thrown below a socket ends its own call, and nothing else', async () => {
  await using server = await realtimeServer();
  const { failures, call } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  call.sendData = bug;
  server.send({ type: 'anything' });
  await until(() => failures.length > 0);
  expect(failures).toEqual(['The conversation failed here.']);
});

test('what is thrown below the clock ends its own call, and nothing else', async () => {
  await using server = await realtimeServer();
  const { failures, call } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  call.sendAudio = bug;
  server.send(delta('a', 200));
  await until(() => failures.length > 0);
  expect(failures).toEqual(['The conversation failed here.']);
});
