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
