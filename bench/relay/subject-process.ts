/** This project's relay as a process of its own, to be measured: `node subject-process.ts OPTIONS`. */
import { pino } from 'pino';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import { MemoryDirectory } from '../../origin/directory.ts';
import { startRelay, type RelayOptions } from '../../origin/relay/relay.ts';

export interface SubjectOptions extends Pick<RelayOptions, 'io' | 'threads' | 'trunkMtu'> {
  readonly listener: TrunkAddress;
  readonly trunk: TrunkAddress;
  /** The one transceiver, of id 1. */
  readonly transceiver: TrunkAddress;
  readonly routingKeys: string;
}

/** The cluster of tokens. */
export const CLUSTER = 1;
export const TRANSCEIVER = 1;

if (import.meta.main) {
  const given: SubjectOptions = JSON.parse(process.argv[2] ?? '');
  const { listener, transceiver, routingKeys, ...options } = given;
  const transceivers = new MemoryDirectory();
  transceivers.add(TRANSCEIVER, transceiver);
  const relay = await startRelay({
    ...options,
    cluster: CLUSTER,
    listeners: [listener],
    peers: ['127.0.0.0/8'],
    routes: [],
    routingKeys: parseRoutingKeys(routingKeys),
    transceivers,
    log: pino({ level: 'silent' }),
    // All clients of the load have one address.
    limits: { maxTentativePerSource: 100_000 },
  });
  process.once('SIGTERM', () => void relay.close());
  console.log('ready');
}
