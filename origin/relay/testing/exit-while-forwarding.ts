/** A process that exits while its relay forwards on threads. */
import { pino } from 'pino';
import { MemoryDirectory } from '../../directory.ts';
import { startRelay } from '../relay.ts';

const ANY_PORT = { address: '127.0.0.1', port: 0 };

await startRelay({
  cluster: 1,
  listeners: [ANY_PORT],
  trunk: ANY_PORT,
  peers: [],
  routes: [],
  routingKeys: [{ id: 'A', key: new Uint8Array(16) }],
  transceivers: new MemoryDirectory(),
  log: pino({ level: 'silent' }),
  io: 'batched',
  threads: 2,
});
console.log('forwarding');
process.exit();
