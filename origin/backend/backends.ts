/** Which back end a process has, by its configuration. */
import type { Logger } from 'pino';
import * as v from 'valibot';
import { SessionSchema } from '../../protocol/session-config.ts';
import type { Backend } from './backend.ts';
import { echo } from './echo.ts';
import { startParrot } from './parrot/parrot.ts';
import { realtime } from './realtime/realtime.ts';

/** `echo`, `parrot`, or where a back end of the OpenAI Realtime protocol is. */
export const BackendChoice = v.union(
  [
    v.picklist(['echo', 'parrot']),
    v.strictObject({
      /** Its WebSocket, as `wss://api.openai.com/v1/realtime?model=gpt-realtime`. */
      realtime: v.pipe(
        v.string(),
        v.check(isWebSocketUrl, 'is not a ws: or wss: URL without a fragment'),
      ),
      /** Sent as a bearer token. */
      apiKey: v.optional(v.pipe(v.string(), v.regex(/^[!-~]+$/, 'is not a key'))),
      /** What each conversation begins with, as in session.update; callers may ask for all but another model. */
      session: v.optional(SessionSchema),
    }),
  ],
  'is neither echo, parrot nor {"realtime": "wss://…"} with an optional apiKey and session',
);
export type BackendChoice = v.InferOutput<typeof BackendChoice>;

export interface OpenBackend {
  readonly backend: Backend;
  close(): Promise<void>;
}

/** @throws Error when the parrot can have no port. */
export async function openBackend(choice: BackendChoice, log: Logger): Promise<OpenBackend> {
  if (choice === 'echo') return { backend: echo, close: async () => undefined };
  if (choice === 'parrot') {
    const parrot = await startParrot();
    return { backend: realtime({ url: parrot.url, log }), close: () => parrot.close() };
  }
  const { realtime: url, apiKey, session } = choice;
  return { backend: realtime({ url, apiKey, session, log }), close: async () => undefined };
}

function isWebSocketUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hash } = new URL(text);
  return /^wss?:$/.test(protocol) && hash === '' && !text.endsWith('#');
}
