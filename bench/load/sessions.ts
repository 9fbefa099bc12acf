/** Real sessions that all speak for minutes, through relays and transceivers. */
import { setTimeout as delay } from 'node:timers/promises';
import { sessionsOf } from '../../test/support/sessions.ts';
import { atMost, type Bar } from '../transceiver/bench.ts';
import { startLoadStack, type LoadStack } from './stack.ts';
import { ProcessWatch, type ProcessUse } from './process-watch.ts';
import { udpDrops } from './udp-drops.ts';

/** Milliseconds between two lines that tell how it goes. */
const PROGRESS = 30_000;

/** Minutes from which on memory is judged: heaps and allocators grow for as long to what they then keep. */
const LEAST_MINUTES = 4;

/** Bytes a minute that a session may make its region's heap grow by, for it must not keep anything of 3,000 packets. */
const HEAP_GROWTH = 1_000;

/** The same of resident memory, in which fragments come and go: still under 10 bytes for a packet. */
const RESIDENT_GROWTH = 30_000;

export interface SessionsOptions {
  readonly sessions: number;
  readonly minutes: number;
  readonly log: (line: string) => void;
}

export interface SessionsFigures {
  readonly sessions: number;
  readonly minutes: number;
  /** Sessions by region as they spoke. */
  readonly byRegion: Readonly<Record<string, number>>;
  /** Sessions that ended before they were told to. */
  readonly ended: number;
  /** Packets of media that callers sent, that came back, and that did not. */
  readonly sent: number;
  readonly echoed: number;
  readonly lost: number;
  /** Packets that the kernel dropped before a full socket, by process. */
  readonly socketDrops: Readonly<Record<string, number>>;
  /** Packets that relays dropped, and those they could not send. */
  readonly relayDrops: Readonly<Record<string, number>>;
  /** Milliseconds, of any session. */
  readonly longestGap: number;
  readonly processes: Readonly<Record<string, ProcessUse>>;
  /** Growth over the last half of the heaps after a collection, in bytes a session and minute. */
  readonly heapGrowth: Readonly<Record<string, number>>;
  readonly residentGrowth: Readonly<Record<string, number>>;
  /** What was still there afterwards, and other trouble; none when all is well. */
  readonly misses: readonly string[];
}

export async function loadSessions({ sessions, minutes, log }: SessionsOptions) {
  const misses: string[] = [];
  await using load = await startLoadStack(log, (line) => misses.push(line));
  const { stack, callers, pids } = load;
  await callers.place(sessions);
  const byRegion = await sessionsOf(stack);
  log(`${sessions} sessions: ${JSON.stringify(byRegion)}`);

  await using watch = await ProcessWatch.start(pids);
  const told = setInterval(() => void tell(load, log), PROGRESS);
  const half = heapsAfter(load, minutes * 30_000);
  await callers.speak(minutes * 60).finally(() => clearInterval(told));
  const processes = await watch.stop();
  const [before, after] = [await half, await heaps(load)];

  const { sent, received, ended, longestGap } = await callers.totals();
  const left = sum(Object.values(await sessionsOf(stack)));
  const socketDrops = await udpDrops(pids);
  const relayDrops = await dropsOfRelays(load);
  await callers.hangUp();
  misses.push(...(await load.untilNothingIsLeft()));

  const heapGrowth: Record<string, number> = {};
  const residentGrowth: Record<string, number> = {};
  for (const [name, count] of Object.entries(byRegion)) {
    heapGrowth[name] = (after[name]! - before[name]!) / count / (minutes / 2);
    residentGrowth[name] = processes[name]!.growth / count;
  }
  const figures: SessionsFigures = {
    sessions,
    minutes,
    byRegion,
    ended: Math.max(ended, sessions - left),
    sent,
    echoed: received,
    lost: sent - received,
    socketDrops,
    relayDrops,
    longestGap,
    processes,
    heapGrowth,
    residentGrowth,
    misses,
  };
  return { figures, bars: barsOf(figures) };
}

function barsOf(figures: SessionsFigures): Bar[] {
  const { minutes, ended, lost, misses, heapGrowth, residentGrowth } = figures;
  const bars = [
    atMost('sessions that ended early', ended, 0),
    atMost('packets lost', lost, 0),
    atMost('left or in trouble', misses.length, 0),
  ];
  if (minutes < LEAST_MINUTES) return bars;
  return [
    ...bars,
    atMost('heap, bytes a session-minute', largest(heapGrowth), HEAP_GROWTH),
    atMost('resident, bytes a session-minute', largest(residentGrowth), RESIDENT_GROWTH),
  ];
}

async function tell({ callers }: LoadStack, log: (line: string) => void): Promise<void> {
  const { sent, received, ended, longestGap, lost } = await callers.totals();
  log(
    `${sent} packets sent, ${received} back, longest gap ${longestGap.toFixed(0)} ms, ` +
      `${ended} sessions ended, ${lost.length} wait for packets`,
  );
}

/** Bytes of the regions' heaps by region. */
async function heaps({ stack }: LoadStack): Promise<Record<string, number>> {
  const entries = [...stack.regions].map(async ([name, region]) => {
    return [name, (await region.memory()).heap] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function heapsAfter(load: LoadStack, milliseconds: number): Promise<Record<string, number>> {
  await delay(milliseconds);
  return heaps(load);
}

/** By reason, of all relays together; none that is 0. */
async function dropsOfRelays({ stack }: LoadStack): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const region of stack.regions.values()) {
    const { drops, sendErrors } = await region.relayCounters();
    for (const [reason, count] of Object.entries({ ...drops, 'send-errors': sendErrors })) {
      if (count > 0) total[reason] = (total[reason] ?? 0) + count;
    }
  }
  return total;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function largest(figures: Readonly<Record<string, number>>): number {
  return Math.max(...Object.values(figures));
}
