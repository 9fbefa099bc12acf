/** What a caller asks of the voice, and what the operator has set: which of them a back end is told. */
import { expect, test } from 'vitest';
import { until } from '../../transceiver/testing/until.ts';
import { openCall } from '../testing/open-call.ts';
import { realtimeServer } from '../testing/realtime-server.ts';
import { MAX_SESSION } from './realtime-session.ts';

const FORMAT = { type: 'audio/pcmu' };

const OPERATORS = {
  model: 'small',
  instructions: 'Be brief.',
  max_output_tokens: 100,
  audio: { output: { voice: 'alloy', speed: 1.1 } },
};

const update = (session: object) => JSON.stringify({ type: 'session.update', session });

test('a caller has its own way, but for the model and the formats', async () => {
  await using server = await realtimeServer();
  const foreign = { type: 'audio/pcm', rate: 24_000 };
  const asked = {
    type: 'realtime',
    model: 'large',
    instructions: 'Be long.',
    input_audio_format: 'pcm16',
    audio: {
      input: { format: foreign, turn_detection: { type: 'semantic_vad' } },
      output: { format: foreign, voice: 'marin' },
    },
  };
  openCall({ url: server.url, session: OPERATORS }, { asked });
  await until(() => server.events.length > 0);
  expect(server.events[0]).toEqual({
    type: 'session.update',
    session: {
      type: 'realtime',
      model: 'small',
      instructions: 'Be long.',
      max_output_tokens: 100,
      audio: {
        input: { format: FORMAT, turn_detection: { type: 'semantic_vad' } },
        output: { format: FORMAT, voice: 'marin', speed: 1.1 },
      },
    },
  });
});

test('nor does an update choose another model, and the formats stay', async () => {
  await using server = await realtimeServer();
  const { session } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  const audio = { input: { format: { type: 'audio/pcma' } } };
  session.data('oai-events', update({ model: 'large', audio }));
  await until(() => server.events.length > 1);
  expect(server.events[1]).toEqual({
    type: 'session.update',
    session: { type: 'realtime', audio: { input: { format: FORMAT }, output: { format: FORMAT } } },
  });
});

test('a back end that was lost learns all that was set, asked and updated', async () => {
  await using server = await realtimeServer();
  const asked = { audio: { output: { voice: 'marin' } } };
  const { session } = openCall({ url: server.url, session: OPERATORS }, { asked });
  await until(() => server.events.length > 0);
  session.data('oai-events', update({ instructions: 'Stay.' }));
  session.data('oai-events', update({ tools: [] }));
  await until(() => server.events.length > 2);
  server.drop();
  await until(() => server.events.length > 3);
  expect(server.events[3]).toMatchObject({
    session: {
      model: 'small',
      instructions: 'Stay.',
      tools: [],
      audio: { output: { voice: 'marin', speed: 1.1, format: FORMAT } },
    },
  });
});

test('updates add up to so much and no more', async () => {
  await using server = await realtimeServer();
  const { session, told } = openCall({ url: server.url });
  await until(() => server.events.length > 0);
  const half = 'x'.repeat(MAX_SESSION / 2);
  session.data('oai-events', update({ a: half }));
  session.data('oai-events', update({ b: half }));
  expect(told).toMatchObject([{ type: 'error', error: { code: 'invalid_event' } }]);
  session.data('oai-events', update({ a: 'less', b: half }));
  await until(() => server.events.length > 2);
  expect(told).toHaveLength(1);
});
