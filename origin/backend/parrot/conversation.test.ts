import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toneSamples } from '../../../local/tone.ts';
import { MAX_SPEECH_MS, ParrotConversation } from './conversation.ts';

interface Told {
  readonly type: string;
  readonly [field: string]: unknown;
}

const RATE = 24_000;
const SILENCE_MS = 700;

const side = (type: string) => ({ format: { type } });

function converse() {
  const told: Told[] = [];
  const parrot = new ParrotConversation((event) => told.push(event));
  const send = (event: Told) => parrot.receive(JSON.stringify(event));
  const say = (samples: Int16Array) => {
    for (let at = 0; at < samples.length; at += 777) {
      const part = samples.slice(at, at + 777);
      const audio = Buffer.from(part.buffer).toString('base64');
      send({ type: 'input_audio_buffer.append', audio });
    }
  };
  const tone = (ms: number) => say(toneSamples(440, RATE, 0, (ms * RATE) / 1000, 8_000));
  const pause = (ms = SILENCE_MS) => say(new Int16Array((ms * RATE) / 1000));
  const spoken = () =>
    Buffer.concat(
      told.flatMap(({ delta }) =>
        typeof delta === 'string' ? [Buffer.from(delta, 'base64')] : [],
      ),
    );
  return { told, send, tone, pause, spoken, types: () => told.map(({ type }) => type), parrot };
}

test('says back what it heard once there is a pause', () => {
  const { tone, pause, types, spoken } = converse();
  pause();
  tone(1_000);
  expect(types()).toEqual(['session.created', 'input_audio_buffer.speech_started']);
  pause();
  expect(types()).toEqual([
    'session.created',
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'response.created',
    ...Array.from({ length: 7 }, () => 'response.output_audio.delta'),
    'response.output_audio.done',
    'response.done',
  ]);
  const ms = spoken().length / 48;
  expect(ms).toBeGreaterThan(1_000);
  expect(ms).toBeLessThan(1_500);
});

test('in the voice of an echo all comes back at once, until the voice is another', () => {
  const { send, tone, types, spoken } = converse();
  const speakAs = (voice: string) =>
    send({ type: 'session.update', session: { audio: { output: { voice } } } });
  speakAs('echo');
  const chimed = spoken().length;
  tone(500);
  expect(spoken().length - chimed).toBe(500 * 48);
  const echoed = types();
  expect(echoed.filter((type) => type === 'response.created')).toHaveLength(2);
  expect(echoed).not.toContain('input_audio_buffer.speech_started');
  speakAs('parrot');
  expect(types().slice(echoed.length)).toEqual([
    'response.output_audio.done',
    'response.done',
    'session.updated',
  ]);
  tone(500);
  expect(spoken().length - chimed).toBe(500 * 48);
  expect(types().at(-1)).toBe('input_audio_buffer.speech_started');
});

test('answers speech without end', () => {
  const { tone, types } = converse();
  tone(MAX_SPEECH_MS + 200);
  expect(types()).toContain('response.done');
});

test('keeps to the format it is asked for', () => {
  const { send, told } = converse();
  const both = { input: side('audio/pcmu'), output: side('audio/pcmu') };
  send({ type: 'session.update', session: { audio: both } });
  expect(told.at(-1)).toMatchObject({ session: { audio: both } });
  send({ type: 'session.update', session: { audio: { ...both, output: side('audio/pcm') } } });
  expect(told.at(-1)).toMatchObject({ type: 'error' });
});

test('says of its session what it was asked for', () => {
  const { send, told } = converse();
  const turn_detection = { type: 'semantic_vad', create_response: false };
  const audio = { input: { turn_detection }, output: { voice: 'marin' } };
  send({ type: 'session.update', session: { instructions: 'Say it back.', audio } });
  expect(told.find(({ type }) => type === 'session.updated')).toMatchObject({
    session: {
      model: 'parrot',
      instructions: 'Say it back.',
      audio: {
        input: {
          turn_detection: { type: 'server_vad', create_response: false, interrupt_response: true },
        },
        output: { voice: 'marin', format: { type: 'audio/pcm' } },
      },
    },
  });
  send({ type: 'session.update', session: { instructions: 'Or not.' } });
  expect(told.at(-1)).toMatchObject({
    session: { instructions: 'Or not.', audio: { output: { voice: 'marin' } } },
  });
});

const detecting = (turn_detection: object | null) => ({
  type: 'session.update',
  session: { audio: { input: { turn_detection } } },
});

test('waits as long as it is asked to until speech counts as over', () => {
  const { send, tone, pause, types } = converse();
  send(detecting({ silence_duration_ms: 1_500 }));
  tone(400);
  pause(1_000);
  expect(types()).not.toContain('input_audio_buffer.speech_stopped');
  pause(1_000);
  expect(types()).toContain('input_audio_buffer.speech_stopped');
});

test('answers when it is told to, where it is not to by itself', () => {
  const { send, tone, pause, spoken, types } = converse();
  send(detecting({ create_response: false }));
  const greeting = spoken().length;
  tone(400);
  pause();
  expect(types().at(-1)).toBe('input_audio_buffer.committed');
  expect(spoken()).toHaveLength(greeting);
  send({ type: 'response.create' });
  expect(spoken().length).toBeGreaterThan(greeting);
});

test('takes no turn without turn detection, until it has one again', () => {
  const { send, tone, pause, types } = converse();
  send(detecting(null));
  const before = types();
  tone(1_000);
  pause();
  expect(types()).toEqual(before);
  send(detecting({ type: 'server_vad' }));
  tone(400);
  pause();
  expect(types().at(-1)).toBe('response.done');
});

test('takes items, and refuses what it does not know', () => {
  const { send, told, types, parrot } = converse();
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
  send({ type: 'conversation.item.create', item });
  expect(told.at(-1)).toMatchObject({ type: 'conversation.item.added', item });
  send({ type: 'no such' });
  parrot.receive('no event');
  expect(types().slice(-2)).toEqual(['error', 'error']);
});

test('takes any text', () => {
  const known = ['input_audio_buffer.append', 'session.update', 'conversation.item.truncate'];
  const event = fc.record({
    type: fc.constantFrom(...known),
    audio: fc.oneof(fc.base64String(), fc.jsonValue()),
    session: fc.jsonValue(),
  });
  const { parrot, types: told } = converse();
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        event.map((it) => JSON.stringify(it)),
      ),
      (text) => parrot.receive(text),
    ),
  );
  expect(told()).toContain('error');
});
