/** What a caller asks of the voice, by its client secret and its call, through the whole path to the parrot. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as v from 'valibot';
import { startStack, type Stack } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import { TonePlayer } from '../local/tone-player.ts';
import { createAudioSource, createPeerConnection } from '../local/webrtc.ts';
import { until } from './support/until.ts';

const TONE_HZ = 440;

interface Told {
  readonly type: string;
  readonly [member: string]: unknown;
}

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ backend: 'parrot' });
});
afterAll(() => stack?.close());

/** A call by libwebrtc, its events in their order, and a microphone that is silent until it is told to speak. */
async function call(ofSecret: object, ofCall: object) {
  const peer = createPeerConnection();
  const source = createAudioSource();
  const track = source.createTrack();
  peer.addTrack(track);
  const channel = peer.createDataChannel('oai-events');
  const told: Told[] = [];
  channel.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') told.push(JSON.parse(data));
  });
  onTestFinished(() => {
    track.stop();
    channel.close();
    peer.close();
  });
  const offer = await peer.createOffer();
  await peer.setLocalDescription(offer);
  const form = new FormData();
  form.set('sdp', offer.sdp);
  form.set('session', JSON.stringify(ofCall));
  const response = await fetch(`${stack.edge}/v1/realtime/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await mintSecret(ofSecret)}` },
    body: form,
  });
  expect(response.status).toBe(201);
  await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  const of = (type: string) => told.filter((event) => event.type === type);
  return {
    told,
    say: (event: Told) => channel.send(JSON.stringify(event)),
    of,
    /** Until the parrot notices. */
    speak: async () => {
      const player = new TonePlayer(source, TONE_HZ);
      player.start();
      await until(() => of('input_audio_buffer.speech_started').length > 0);
      player.stop();
    },
  };
}

async function mintSecret(session: object): Promise<string> {
  const response = await fetch(`${stack.edge}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${DEMO_API_KEY}` },
    body: JSON.stringify({ session }),
  });
  const { value } = v.parse(v.object({ value: v.string() }), await response.json());
  return value;
}

test('the call goes over the secret, and session.update over both', async () => {
  const { of, say } = await call(
    { instructions: 'Of the secret.', audio: { output: { voice: 'marin' } } },
    { model: 'another', instructions: 'Of the call.' },
  );
  const [first] = await until(() => of('session.updated').length > 0 && of('session.updated'));
  expect(first).toMatchObject({
    session: {
      model: 'parrot',
      instructions: 'Of the call.',
      audio: {
        input: { format: { type: 'audio/pcm', rate: 24_000 } },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin' },
      },
    },
  });

  say({ type: 'session.update', session: { instructions: 'Of the channel.' } });
  await until(() => of('session.updated').length > 1);
  expect(of('session.updated').at(-1)).toMatchObject({
    session: { instructions: 'Of the channel.', audio: { output: { voice: 'marin' } } },
  });
});

test('the parrot answers only when told to, where the caller asks for that', async () => {
  const turn_detection = { type: 'server_vad', create_response: false };
  const { of, say, speak, told } = await call({}, { audio: { input: { turn_detection } } });
  await until(() => of('output_audio_buffer.stopped').length > 0);
  const greetings = of('response.created').length;
  await speak();
  await until(() => of('input_audio_buffer.committed').length > 0);
  // An answer by itself would come before what answers this.
  say({ type: 'session.update', session: {} });
  await until(() => told.at(-1)?.type === 'session.updated');
  expect(of('response.created')).toHaveLength(greetings);
  say({ type: 'response.create' });
  await until(() => of('response.created').length > greetings);
});
