/** A transceiver's link to a roster, made inside workerd. */
import { env } from 'cloudflare:workers';
import type { TransceiverReport } from '../../protocol/roster.ts';
import { parseSigningKey, sign } from '../../protocol/signature.ts';
import type { Roster } from '../roster.ts';

export interface Link {
  readonly socket: WebSocket;
  readonly closed: Promise<CloseEvent>;
}

/** The roster of a cluster that no footprint names. */
export interface TestRoster {
  readonly cluster: number;
  readonly roster: DurableObjectStub<Roster>;
}

export function testRoster(cluster: number): TestRoster {
  return { cluster, roster: env.ROSTER.getByName(String(cluster)) };
}

/** Asks to join as a transceiver does. */
export function askToJoin(
  roster: DurableObjectStub<Roster>,
  authorization?: string,
): Promise<Response> {
  const headers = new Headers({ upgrade: 'websocket' });
  if (authorization) headers.set('authorization', authorization);
  return roster.fetch('https://edge.test/v1/roster', { headers });
}

export async function joinTestRoster(
  { cluster, roster }: TestRoster,
  transceiver: number,
): Promise<Link> {
  const key = parseSigningKey(env.SIGNING_KEY);
  const token = sign(key, cluster, { op: 'join', transceiver });
  const response = await askToJoin(roster, `Bearer ${token}`);
  const socket = response.webSocket!;
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve));
  socket.accept();
  return { socket, closed };
}

export function report(transceiver: number, sessions = 0): TransceiverReport {
  return { transceiver, sessions, capacity: 10, draining: false };
}
