/** A relay in a process of its own, with the limits of any other but the time to live of its flows. */
import process from 'node:process';
import { pino } from 'pino';
import { MemoryDirectory } from '../../origin/directory.ts';
import { runService } from '../../origin/parent.ts';
import { startRelay, type Relay } from '../../origin/relay/relay.ts';
import { usedMemory } from '../../origin/used-memory.ts';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import {
  CLUSTER,
  FLOW_RELAY_VARIABLE,
  TRANSCEIVER,
  type FlowRelayOptions,
} from './relay-options.ts';

export interface FlowRelayService {
  readonly ready: null;
  readonly answers: ReturnType<typeof answersOf>;
}

function answersOf(relay: Relay) {
  return { counters: () => relay.counters(), memory: usedMemory };
}

try {
  await runService(async () => {
    const options: FlowRelayOptions = JSON.parse(process.env[FLOW_RELAY_VARIABLE] ?? '');
    const { listener, trunk, transceiver, routingKeys, idle } = options;
    const transceivers = new MemoryDirectory();
    transceivers.add(TRANSCEIVER, transceiver);
    const relay = await startRelay({
      cluster: CLUSTER,
      listeners: [listener],
      trunk,
      peers: ['127.0.0.0/8'],
      routes: [],
      routingKeys: parseRoutingKeys(routingKeys),
      transceivers,
      log: pino({ level: 'error' }),
      limits: { idle },
    });
    return { ready: null, answers: answersOf(relay), close: () => relay.close() };
  });
} catch {
  // Its parent has been told why.
  process.exit(1);
}
