/** A relay as a process of its own, on free ports, that tests signal and kill. */
import { choosePorts, LOOPBACK } from '../../../local/ports.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { RELAY_CONFIG_VARIABLE, type RelayConfigInput } from '../../relay-config.ts';
import { OriginProcess } from '../../testing/origin-process.ts';
import { KEY } from './rig.ts';

const COMMAND = new URL('../../relay-process.ts', import.meta.url).pathname;

export const ROUTING_KEYS = `${KEY.id}:${Buffer.from(KEY.key).toString('base64')}`;

const at = (port: number): TrunkAddress => ({ address: LOOPBACK, port });

/** Of cluster 1, on ports that were free a moment ago. */
export async function relayConfig(
  changes: Partial<RelayConfigInput> = {},
): Promise<RelayConfigInput> {
  const ports = await choosePorts({
    listener: { protocol: 'udp' },
    trunk: { protocol: 'udp' },
    admin: { protocol: 'tcp' },
  });
  return {
    cluster: 1,
    relay: { listeners: [at(ports.listener!)], trunk: at(ports.trunk!) },
    peers: ['127.0.0.0/8'],
    routingKeys: ROUTING_KEYS,
    admin: at(ports.admin!),
    logLevel: 'error',
    ...changes,
  };
}

export class RelayProcess extends OriginProcess {
  readonly listeners: readonly TrunkAddress[];

  private constructor(config: RelayConfigInput, redisUrl: string | undefined) {
    const env = { [RELAY_CONFIG_VARIABLE]: JSON.stringify(config), REDIS_URL: redisUrl ?? '' };
    super({ path: COMMAND, env, admin: config.admin! });
    this.listeners = config.relay.listeners;
  }

  /** Does not wait until it is ready. */
  static spawn(config: RelayConfigInput, redisUrl?: string): RelayProcess {
    return new RelayProcess(config, redisUrl);
  }

  static async started(config: RelayConfigInput, redisUrl?: string): Promise<RelayProcess> {
    const relay = RelayProcess.spawn(config, redisUrl);
    await relay.ready();
    return relay;
  }
}
