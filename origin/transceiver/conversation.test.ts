/** Whole calls of libwebrtc with the parrot: over UDP, SRTP, Opus and a real WebSocket. */
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { openBackend } from '../backend/backends.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { talkingClient, type TalkingClient } from './testing/talking-client.ts';
import { until } from './testing/until.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Milliseconds of the tone that must come back. */
const WORDS = 600;

async function withParrot(
  talk: (client: TalkingClient, stage: Stage, call: string) => Promise<void>,
): Promise<void> {
  const voice = await openBackend('parrot', pino({ level: 'silent' }));
  try {
    await using stage = await openStage({ backend: voice.backend });
    await using client = await talkingClient();
    const { answer, call } = stage.create(client.offer);
    await client.take(answer);
    await until(() => client.events.includes('output_audio_buffer.stopped'));
    await talk(client, stage, call);
  } finally {
    await voice.close();
  }
}

const count = (client: TalkingClient, type: string) =>
  client.events.filter((it) => it === type).length;

/** Says the tone until the parrot notices, and for a while more by the packets that go. */
async function say(client: TalkingClient, stage: Stage, call: string, packets: number) {
  const before = count(client, 'input_audio_buffer.speech_started');
  client.speak();
  await until(() => count(client, 'input_audio_buffer.speech_started') > before);
  const { rtpIn } = stage.session(call)!.counters;
  await until(() => stage.session(call)!.counters.rtpIn > rtpIn + packets);
  client.pause();
}

test('what is said comes back after a pause, and not before', async () => {
  await withParrot(async (client, stage, call) => {
    await say(client, stage, call, 50);
    expect(client.heard()).toBe(0);
    await until(() => count(client, 'output_audio_buffer.stopped') === 2);
    await until(() => client.heard() > WORDS);
    const { events } = client;
    const order = ['speech_started', 'speech_stopped'].map((it) => `input_audio_buffer.${it}`);
    const positions = [...order, 'response.created'].map((it) => events.lastIndexOf(it));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(events).not.toContain('response.output_audio.delta');
    expect(events).not.toContain('error');
  });
});

test('it stops when it is spoken to, and answers that', async () => {
  await withParrot(async (client, stage, call) => {
    await say(client, stage, call, 150);
    await until(() => client.heard() > 200);
    await say(client, stage, call, 50);
    await until(() => client.events.includes('conversation.item.truncated'));
    expect(count(client, 'output_audio_buffer.cleared')).toBe(1);
    await until(() => count(client, 'output_audio_buffer.stopped') === 2);
  });
});

test('it hears and is heard where one packet of ten is lost, and others overtake', async () => {
  await withParrot(async (client, stage, call) => {
    let packets = 0;
    stage.relay.filter = ({ packet }) => packet[0]! < 128 || ++packets % 10 !== 0;
    await say(client, stage, call, 60);
    await until(() => client.heard() > WORDS);
    await until(() => count(client, 'output_audio_buffer.stopped') === 2);
    expect(count(client, 'response.created')).toBe(2);
  });
});
