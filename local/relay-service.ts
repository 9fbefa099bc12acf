/** A relay as a service of its parent, which may kill it and start the next one on its ports. */
import process from 'node:process';
import { pino } from 'pino';
import { MemoryDirectory } from '../origin/directory.ts';
import { serveHttp } from '../origin/http-server.ts';
import { runService } from '../origin/parent.ts';
import { readRelayConfig, RELAY_CONFIG_VARIABLE } from '../origin/relay-config.ts';
import { adminApp } from '../origin/relay/admin.ts';
import { startRelay, type Relay } from '../origin/relay/relay.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';

export interface RelayService {
  readonly ready: undefined;
  readonly answers: ReturnType<typeof answersOf>;
}

function answersOf(relay: Relay) {
  return { counters: () => relay.counters() };
}

try {
  await runService(async () => {
    const config = await readRelayConfig([], process.env);
    // It holds keys, which nothing that this process may start has a use for.
    delete process.env[RELAY_CONFIG_VARIABLE];
    const transceivers = new MemoryDirectory();
    for (const { id, trunk } of config.transceivers) transceivers.add(id, trunk);
    const relay = await startRelay({
      ...config.relay,
      cluster: config.cluster,
      peers: config.peers,
      routes: config.routes,
      routingKeys: parseRoutingKeys(config.routingKeys),
      transceivers,
      log: pino({ name: 'relay', level: config.logLevel, base: { cluster: config.cluster } }),
    });
    const { routingKeys: _, ...shown } = config;
    const app = adminApp({ relay: () => relay, state: () => 'ready', config: shown });
    const admin = await serveHttp(app.fetch, config.admin, 'admin');
    const close = async () => void (await Promise.all([admin.close(), relay.close()]));
    return { ready: undefined, answers: answersOf(relay), close };
  });
} catch {
  // Its parent has been told why.
  process.exit(1);
}
