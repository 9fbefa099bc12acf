/** A connectivity check to one relay, as a client sends it (RFC 8445 §7.1), by UDP or TCP (RFC 6544). */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { Message, classes, methods } from 'werift';
import { FrameReader, frame } from '../../../origin/relay/rfc4571.ts';
import type { IceCredentials } from '../../../origin/transceiver/ice-credentials.ts';
import { proven } from '../../../origin/transceiver/ice-messages.ts';

/** Milliseconds until a check is sent again, and then each time twice as long (RFC 8489 §6.2.1). */
const RETRANSMISSION = 500;

const TRANSACTION_ID_LENGTH = 12;
const LARGEST_PACKET = 65_535;

/** Priority of a peer-reflexive candidate (RFC 8445 §5.1.2.1). */
const PRIORITY = 110 * 2 ** 24 + 65_535 * 2 ** 8 + 255;

export interface Candidate {
  readonly host: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
}

/** Who the two sides of the session's ICE are. */
export interface CheckedSession {
  readonly server: IceCredentials;
  readonly client: Pick<IceCredentials, 'ufrag'>;
}

/** `HOST:PORT/udp`, or `/tcp`; an IPv6 address may be in brackets. Undefined for what is none. */
export function parseCandidate(text: string): Candidate | undefined {
  const match = /^(.+):(\d{1,5})\/(udp|tcp)$/.exec(text);
  if (!match) return undefined;
  const host = match[1]!.replace(/^\[(.*)\]$/, '$1');
  const port = Number(match[2]);
  const isHost = /^[A-Za-z0-9.:_-]+$/.test(host);
  if (!isHost || port < 1 || port > 65_535) return undefined;
  return { host, port, transport: match[3] === 'tcp' ? 'tcp' : 'udp' };
}

export function formatCandidate({ host, port, transport }: Candidate): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${transport}`;
}

/**
 * Sends a check without a nomination, so that media stays where it is.
 *
 * @param timeout Milliseconds.
 * @returns Milliseconds from the first sending to the proven answer; by TCP with the time to connect.
 * @throws Error that says why there is none.
 */
export async function stunProbe(
  candidate: Candidate,
  { server, client }: CheckedSession,
  timeout: number,
): Promise<number> {
  const id = randomBytes(TRANSACTION_ID_LENGTH);
  const key = Buffer.from(server.password);
  const check = new Message(methods.BINDING, classes.REQUEST, id)
    .setAttribute('USERNAME', `${server.ufrag}:${client.ufrag}`)
    .setAttribute('PRIORITY', PRIORITY)
    .setAttribute('ICE-CONTROLLING', randomBytes(8).readBigUInt64BE())
    .addMessageIntegrity(key)
    .addFingerprint().bytes;
  const isAnswer = (packet: Buffer): boolean => {
    const answer = proven(packet, key);
    return answer?.messageClass === classes.RESPONSE && answer.transactionId.equals(id);
  };
  const { address, family } = await lookup(candidate.host);
  const signal = AbortSignal.timeout(timeout);
  const exchange = { address, family, port: candidate.port, check, isAnswer, signal };
  const start = performance.now();
  try {
    await (candidate.transport === 'udp' ? overUdp(exchange) : overTcp(exchange));
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`no answer within ${timeout / 1000} s`, { cause: error });
  }
  return performance.now() - start;
}

interface Exchange {
  readonly address: string;
  readonly family: number;
  readonly port: number;
  readonly check: Buffer;
  readonly isAnswer: (packet: Buffer) => boolean;
  readonly signal: AbortSignal;
}

async function overUdp(exchange: Exchange): Promise<void> {
  const { address, family, port, check, isAnswer, signal } = exchange;
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  let timer: NodeJS.Timeout | undefined;
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.on('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason));
    socket.on('message', (packet) => {
      if (isAnswer(packet)) resolve();
    });
    const send = (wait: number): void => {
      socket.send(check, port, address, (error) => {
        if (error) reject(error);
      });
      timer = setTimeout(send, wait, 2 * wait);
    };
    send(RETRANSMISSION);
    await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

async function overTcp(exchange: Exchange): Promise<void> {
  const { address, port, check, isAnswer, signal } = exchange;
  const socket = connect({ host: address, port, noDelay: true });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // It may fail while the connection is still awaited.
    promise.catch(() => undefined);
    const reader = new FrameReader(LARGEST_PACKET);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the relay closed the connection')));
    socket.on('data', (chunk) => {
      reader.read(chunk, (packet) => {
        if (isAnswer(Buffer.from(packet))) resolve();
      });
    });
    await once(socket, 'connect', { signal });
    signal.addEventListener('abort', () => reject(signal.reason));
    socket.write(frame(check, 0, check.length));
    await promise;
  } finally {
    socket.destroy();
  }
}
