/** What a region process and the process that forked it say to each other over IPC. */
import type { OneBox, RegionAddresses, RegionDump } from './one-box.ts';
import type { RelayCounters } from './relay/counters.ts';

/** What can be asked of a region, with the kind of each answer. */
export interface RegionAnswers {
  join: null;
  relayCounters: RelayCounters;
  dump: RegionDump;
  restartRelay: null;
}
export type RegionQuestion = keyof RegionAnswers;

export interface RegionRequest {
  /** Repeated in the reply. */
  readonly id: number;
  readonly ask: RegionQuestion;
}

export type RegionMessage =
  | { readonly kind: 'ready'; readonly addresses: RegionAddresses }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly reason: string };

/** The process this one was forked from; undefined when it was started otherwise. */
export interface Parent {
  send(message: RegionMessage): void;
}

/** Undefined when this process has no IPC channel. */
export function parentOf(process: NodeJS.Process): Parent | undefined {
  if (!process.send) return undefined;
  return {
    send: (message) => {
      // The parent may be gone by now; then nobody is left to tell.
      if (process.connected) process.send?.(message, undefined, {}, () => undefined);
    },
  };
}

/** Answers what the parent asks for as long as the channel stands. */
export function serveParent(process: NodeJS.Process, parent: Parent, box: OneBox): void {
  process.on('message', ({ id, ask }: RegionRequest) => {
    answer(box, ask).then(
      (result) => parent.send({ kind: 'answer', id, answer: result }),
      (error: unknown) => parent.send({ kind: 'refusal', id, reason: reasonOf(error) }),
    );
  });
}

async function answer(box: OneBox, ask: RegionQuestion): Promise<RegionAnswers[RegionQuestion]> {
  switch (ask) {
    case 'join':
      await box.join();
      return null;
    case 'relayCounters':
      return box.relayCounters();
    case 'dump':
      return box.dump();
    case 'restartRelay':
      await box.restartRelay();
      return null;
    default:
      throw new Error(`A region knows no question ${JSON.stringify(ask satisfies never)}.`);
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
