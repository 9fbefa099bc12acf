/**
 * A relay in a process of its own, to be killed: tells its parent where it listens, and its counters when
 * it is sent anything. Arguments: the URL of Redis, the port of transceiver 5, the routing key, the io.
 */
import { pino } from 'pino';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { MemoryDirectory } from '../../directory.ts';
import { GuardedRedis } from '../../redis/guarded-redis.ts';
import { startRelay } from '../relay.ts';

const [url = '', port = '', keyText = '', io] = process.argv.slice(2);
const ANY_PORT: TrunkAddress = { address: '127.0.0.1', port: 0 };
const log = pino({ level: 'silent' });
const transceivers = new MemoryDirectory();
transceivers.add(5, { address: '127.0.0.1', port: Number(port) });

const relay = await startRelay({
  cluster: 1,
  listeners: [ANY_PORT],
  trunk: ANY_PORT,
  peers: ['127.0.0.0/8'],
  routes: [],
  routingKeys: [{ id: 'A', key: Buffer.from(keyText, 'hex') }],
  transceivers,
  redis: new GuardedRedis({ url, log }),
  log,
  io: io === 'dgram' ? io : undefined,
});
process.on('message', () => process.send?.(relay.counters()));
process.send?.({ listeners: relay.listeners, trunk: relay.trunk });
