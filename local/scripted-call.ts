/** A call with no person and no browser: says a tone, hears it come back, and hangs up. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectedCall } from './connected-call.ts';
import { ScriptedClient, type ScriptedClientOptions } from './scripted-client.ts';

export { ScriptedCallError } from './scripted-client.ts';

export interface ScriptedCallOptions extends ScriptedClientOptions {
  /** Milliseconds to go on talking once everything was heard; 0 unless given. */
  readonly ms?: number;
  /** Runs in the middle of the call, before it is hung up. */
  readonly during?: (client: ScriptedClient) => Promise<void>;
}

export interface ScriptedCallResult extends ConnectedCall {
  /** Share of the tone in the sound's power when the call ended, 0 to 1. */
  readonly toneShare: number;
}

/**
 * Makes a call, waits until data and the tone came back, and hangs up.
 *
 * @throws ScriptedCallError
 */
export async function scriptedCall(options: ScriptedCallOptions): Promise<ScriptedCallResult> {
  const client = new ScriptedClient(options);
  try {
    const result = await client.connect();
    await delay(options.ms ?? 0);
    await options.during?.(client);
    const { toneShare } = client;
    await client.hangUp();
    return { ...result, toneShare };
  } finally {
    await client.close();
  }
}
