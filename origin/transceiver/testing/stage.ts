/** What tests of whole calls start from: a transceiver with the echo back end, behind a relay shim. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { Backend } from '../../backend/backend.ts';
import { echo } from '../../backend/echo.ts';
import type { SessionDump } from '../session-dump.ts';
import type { SessionRequest } from '../session-request.ts';
import type { SessionLimits } from '../session-limits.ts';
import { startTransceiver, type Transceiver, type TransceiverObserver } from '../transceiver.ts';
import { RelayShim } from './relay-shim.ts';
import { until } from './until.ts';

const LOOPBACK_PEERS = ['127.0.0.0/8'];
const MINUTE = 60_000;

export interface Stage extends AsyncDisposable {
  readonly transceiver: Transceiver;
  readonly relay: RelayShim;
  /** Makes a session of that offer. */
  create(offer: string, changes?: Partial<SessionRequest>): { answer: string; call: string };
  session(call: string): SessionDump | undefined;
  /** Resolves with the reason why a session ended. */
  ended(call: string): Promise<string>;
  /** What the log tells beside the reason. */
  detail(call: string): string | undefined;
}

export async function openStage(
  options: {
    backend?: Backend;
    capacity?: number;
    peers?: readonly string[];
    limits?: Partial<SessionLimits>;
    observer?: TransceiverObserver;
  } = {},
): Promise<Stage> {
  const reasons = new Map<string, { reason: string; detail: string | undefined }>();
  const log = pino(
    { level: 'info' },
    {
      write(line: string) {
        const { call, reason, detail }: Record<string, string | undefined> = JSON.parse(line);
        if (call && reason) reasons.set(call, { reason, detail });
        if (process.env['TEST_LOG']) process.stdout.write(line);
      },
    },
  );
  const transceiver = await startTransceiver({
    id: 7,
    trunk: { address: '127.0.0.1', port: 0 },
    peers: options.peers ?? LOOPBACK_PEERS,
    capacity: options.capacity ?? 100,
    backend: options.backend ?? echo,
    limits: options.limits ?? {},
    observer: options.observer,
    log,
  });
  const relay = await RelayShim.open(transceiver.trunk);
  return {
    transceiver,
    relay,
    create(offer, changes) {
      const request = { ...newRequest(relay), ...changes };
      return { answer: transceiver.create(request, offer).answer, call: request.call };
    },
    session: (call) => transceiver.dump(call).sessions[0],
    ended: (call) => until(() => reasons.get(call)?.reason),
    detail: (call) => reasons.get(call)?.detail,
    async [Symbol.asyncDispose]() {
      await transceiver.close();
      await relay.close();
    },
  };
}

export function newRequest(relay: RelayShim): SessionRequest {
  return {
    call: randomBytes(16).toString('hex'),
    tenant: 'acme',
    ufrag: randomBytes(23).toString('hex').slice(0, 23),
    expiresAt: Date.now() + 10 * MINUTE,
    relays: [relay.candidate],
  };
}
