/** A call at the client of the Realtime protocol, made of its interface alone; closed when the test ends. */
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import type { SessionConfig } from '../../../protocol/session-config.ts';
import type { AudioCodec, AudioPacket, BackendSession, Call } from '../backend.ts';
import { realtime, type RealtimeOptions } from '../realtime/realtime.ts';
import type { ReceivedEvent } from './realtime-server.ts';

const log = pino({ level: 'silent' });

/** @param asked What its caller asks of the voice. */
export function openCall(
  options: Omit<RealtimeOptions, 'log'> & Partial<Pick<RealtimeOptions, 'log'>>,
  { codec = 'pcmu', asked }: { codec?: AudioCodec; asked?: SessionConfig } = {},
) {
  const said: AudioPacket[] = [];
  const told: ReceivedEvent[] = [];
  const failures: string[] = [];
  const call: Call = {
    id: 'call',
    tenant: 'acme',
    codec,
    session: asked,
    sendAudio: (packet) => said.push(packet),
    sendData: (label, data) => {
      expect(label).toBe('oai-events');
      told.push(JSON.parse(String(data)));
    },
    fail: (reason) => failures.push(reason),
  };
  const session: BackendSession = realtime({ log, ...options }).open(call);
  session.opened!('oai-events');
  onTestFinished(() => session.close());
  const types = () => told.map(({ type }) => type);
  return { session, said, told, failures, types, call };
}
