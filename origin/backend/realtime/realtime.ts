/** A back end that speaks the OpenAI Realtime protocol: one WebSocket and one conversation per call. */
import type { Logger } from 'pino';
import type { SessionConfig } from '../../../protocol/session-config.ts';
import type { Backend } from '../backend.ts';
import type { LinkOptions } from './link.ts';
import { RealtimeSession } from './realtime-session.ts';

export interface RealtimeOptions extends LinkOptions {
  /** What each conversation begins with, where its caller asks for nothing else; its model always. */
  readonly session?: SessionConfig | undefined;
  readonly log: Logger;
}

export function realtime(options: RealtimeOptions): Backend {
  return { name: 'realtime', open: (call) => new RealtimeSession(call, options) };
}
