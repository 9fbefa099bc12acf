/** Chooses the ports of a local run before anything starts: every part must know every other's. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';

export const LOOPBACK = '127.0.0.1';

/** `localhost` may mean this one first: whoever holds a TCP port here gets what was meant for us. */
const OTHER_LOOPBACK = '::1';

/** Free ports are sought below the ephemeral ones, so that no client's socket takes one meanwhile. */
const FREE_PORTS = { from: 10_000, to: 30_000 } as const;

/** Ports tried before it counts as sure that none is free. */
const MAX_TRIES = 500;

export type PortProtocol = 'udp' | 'tcp';

export interface PortWish {
  readonly protocol: PortProtocol;
  /** Taken when it is free; without one, any free port will do. */
  readonly wanted?: number;
  /** Another than the wanted one will not do. */
  readonly required?: boolean;
}

/**
 * One port per wish, all of them free on loopback a moment ago and no two alike.
 *
 * @throws Error when no port is free, or a required one cannot be had.
 */
export async function choosePorts(
  wishes: Readonly<Record<string, PortWish>>,
): Promise<Record<string, number>> {
  await using held = new AsyncDisposableStack();
  const chosen: Record<string, number> = {};
  for (const [key, { protocol, wanted, required = false }] of Object.entries(wishes)) {
    const hold = async (port: number) => {
      const release = await tryHold(protocol, port);
      if (release) held.defer(release);
      return release !== undefined;
    };
    if (wanted !== undefined && (await hold(wanted))) chosen[key] = wanted;
    else if (required) throw new Error(cannotHave(protocol, wanted));
    else chosen[key] = await holdAnyPort(protocol, hold);
  }
  return chosen;
}

function cannotHave(protocol: PortProtocol, port: number | undefined): string {
  const name = `${protocol.toUpperCase()} port ${port} of localhost`;
  return `${name} is taken or not allowed; give another one, or end the process that holds it.`;
}

async function holdAnyPort(
  protocol: PortProtocol,
  hold: (port: number) => Promise<boolean>,
): Promise<number> {
  for (let i = 0; i < MAX_TRIES; i++) {
    const port = randomInt(FREE_PORTS.from, FREE_PORTS.to);
    if (await hold(port)) return port;
  }
  const range = `${FREE_PORTS.from}-${FREE_PORTS.to}`;
  throw new Error(`No free ${protocol.toUpperCase()} port was found on ${LOOPBACK} in ${range}.`);
}

/** Undefined when the port cannot be had; otherwise what gives it back. */
async function tryHold(
  protocol: PortProtocol,
  port: number,
): Promise<(() => Promise<void>) | undefined> {
  try {
    return protocol === 'udp' ? await holdUdp(port) : await holdTcp(port);
  } catch {
    return undefined;
  }
}

async function holdUdp(port: number): Promise<() => Promise<void>> {
  const socket = createSocket('udp4');
  socket.bind(port, LOOPBACK);
  await once(socket, 'listening');
  return () => new Promise((resolve) => void socket.close(resolve));
}

async function holdTcp(port: number): Promise<() => Promise<void>> {
  await using held = new AsyncDisposableStack();
  for (const address of [LOOPBACK, OTHER_LOOPBACK]) {
    const server = createServer();
    try {
      server.listen(port, address);
      await once(server, 'listening');
      held.defer(() => new Promise((resolve) => void server.close(() => resolve())));
    } catch (error) {
      // Any other fault of the second one means that this machine does not have it.
      if (address === LOOPBACK || isTaken(error)) throw error;
    }
  }
  const release = held.move();
  return () => release.disposeAsync();
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
