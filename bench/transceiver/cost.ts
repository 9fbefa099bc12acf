/** Processor time of talking, of setting up, and memory, per session. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadClient, Setup } from './load-client.ts';
import { Subject } from './subject.ts';
import type { SubjectName } from './subject-process.ts';

/** Packets a second of a voice call. */
const RATE = 50;
/** Parts of the packet interval over which the sessions are spread, as those of real calls are. */
const SLOTS = 20;
/** Milliseconds for the last packets to come back. */
const DRAIN = 300;
/** Sessions that a process has seen before it is measured: fewer, and most of the cost is compiling. */
const WARM_UP = 200;
/** Seconds of talking before it is measured, for the same reason. */
const WARM_UP_SECONDS = 3;
/** Sessions set up at once. */
const AT_ONCE = 8;

/** Calls that many, some at a time, and waits until each has its keys. */
export async function connect(subject: Subject, count: number, setup: Setup) {
  const clients: LoadClient[] = [];
  while (clients.length < count) {
    const more = Math.min(AT_ONCE, count - clients.length);
    const calls = await Promise.all(Array.from({ length: more }, () => subject.call(setup)));
    await Promise.all(calls.map((client) => client.secured));
    clients.push(...calls);
  }
  return clients;
}

export interface Cost {
  /** Microseconds of processor time for one packet in and one out. */
  readonly perPair: number;
  /** Sessions of 50 packets a second each way that one processor carries, as far as this cost goes. */
  readonly sessionsPerCore: number;
  /** Packets that came back, of those sent. */
  readonly echoed: number;
}

export async function talkingCost(
  name: SubjectName,
  sessions: number,
  seconds: number,
): Promise<Cost> {
  const subject = await Subject.start(name);
  try {
    const clients = await connect(subject, sessions, 'passive');
    await talk(clients, WARM_UP_SECONDS);
    for (const client of clients) {
      client.prepare(RATE * seconds);
      client.received = 0;
    }
    const before = await subject.usage();
    const sent = await speakAll(clients, RATE * seconds);
    const after = await subject.usage();
    const received = clients.reduce((sum, client) => sum + client.received, 0);
    const perPair = (after.cpu.asked - before.cpu.answered) / received;
    return { perPair, sessionsPerCore: 1e6 / (RATE * perPair), echoed: received / sent };
  } finally {
    await subject.close();
  }
}

async function talk(clients: readonly LoadClient[], seconds: number): Promise<void> {
  for (const client of clients) client.prepare(RATE * seconds);
  await speakAll(clients, RATE * seconds);
}

/** Lets each client send that many packets at the rate of a call, and waits for their echoes. */
async function speakAll(clients: readonly LoadClient[], packets: number): Promise<number> {
  const start = performance.now();
  const slotLength = 1000 / RATE / SLOTS;
  for (let slot = 0; slot < packets * SLOTS; slot++) {
    const late = start + slot * slotLength - performance.now();
    if (late > 0) await delay(late);
    for (let i = slot % SLOTS; i < clients.length; i += SLOTS) {
      clients[i]!.speak(Math.floor(slot / SLOTS));
    }
  }
  await delay(DRAIN);
  return clients.length * packets;
}

/** Milliseconds of the server's processor from the offer to the end of DTLS, per session. */
export async function setupCost(name: SubjectName, sessions: number, setup: Setup) {
  const subject = await Subject.start(name);
  try {
    await connect(subject, WARM_UP, setup);
    await subject.endAll();
    const before = await subject.usage();
    await connect(subject, sessions, setup);
    const after = await subject.usage();
    return (after.cpu.asked - before.cpu.answered) / 1000 / sessions;
  } finally {
    await subject.close();
  }
}

/** Bytes per session that is connected and still. */
export async function memoryCost(name: SubjectName, sessions: number) {
  const subject = await Subject.start(name);
  try {
    await connect(subject, WARM_UP, 'passive');
    const before = await subject.usage();
    await connect(subject, sessions, 'passive');
    const after = await subject.usage();
    return {
      heap: (after.heap - before.heap) / sessions,
      resident: (after.resident - before.resident) / sessions,
    };
  } finally {
    await subject.close();
  }
}
