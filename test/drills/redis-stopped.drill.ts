/** A region's Redis is killed, and comes back empty. */
import { redisDrill } from './redis-fault.ts';

export const drill = redisDrill({
  name: 'redis-stopped',
  holds:
    'Redis is gone for a while: no call is interrupted, new ones start, and nobody does anything about it.',
  begin: ({ redis }) => redis.stop(),
  end: ({ redis }) => redis.start(),
  isNoticed: true,
});
