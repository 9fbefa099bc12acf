/**
 * A service process and the one that forked it, over IPC: it says when it is ready, answers questions,
 * and ends with its parent, so that nothing is ever left behind.
 */
import process from 'node:process';
import { reasonsOf } from './reasons.ts';

/** What can be asked of a service, by name. What goes in and comes out must survive JSON. */
export type Answers = Readonly<Record<string, (about: never) => unknown>>;

export interface ParentRequest {
  /** Repeated in the reply. */
  readonly id: number;
  readonly ask: string;
  readonly about?: unknown;
}

export type ServiceMessage =
  | { readonly kind: 'ready'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly reason: string };

export interface Service {
  /** What its parent is told once it is ready. */
  readonly ready: unknown;
  readonly answers: Answers;
  close(): Promise<void>;
}

/** Milliseconds a service may take to close before its process ends anyway. */
const CLOSE_TIMEOUT = 4_000;

/** True when this process was forked and has a channel to its parent. */
export function hasParent(): boolean {
  return process.send !== undefined;
}

/**
 * Runs a service until SIGTERM, SIGINT or the end of the parent, then closes it and exits with 0.
 * When it cannot start, the parent is told why and the error is thrown on.
 */
export async function runService(start: () => Promise<Service>): Promise<void> {
  let service: Service | undefined;
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT).unref();
    await service?.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end());
  process.once('disconnect', () => void end());
  try {
    service = await start();
  } catch (error) {
    await tellParent({ kind: 'failed', reason: reasonsOf(error) });
    throw error;
  }
  const { answers, ready } = service;
  if (hasParent()) process.on('message', (request: ParentRequest) => void reply(answers, request));
  await tellParent({ kind: 'ready', value: ready });
}

async function reply(answers: Answers, { id, ask, about }: ParentRequest): Promise<void> {
  try {
    if (!Object.hasOwn(answers, ask)) throw new Error(`There is no question ${ask}.`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both sides are of one version, so it is what the question takes
    const value = await answers[ask]!(about as never);
    await tellParent({ kind: 'answer', id, value });
  } catch (error) {
    await tellParent({ kind: 'refusal', id, reason: reasonsOf(error) });
  }
}

/** Settles once the message is on its way, whether or not the parent is still there to be told. */
function tellParent(message: ServiceMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, {}, () => resolve());
    else resolve();
  });
}
