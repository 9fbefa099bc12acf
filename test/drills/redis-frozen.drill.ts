/** A region's Redis takes connections and answers nothing. */
import { redisDrill } from './redis-fault.ts';

export const drill = redisDrill({
  name: 'redis-frozen',
  holds: 'Redis hangs for a while: no call is interrupted, and new ones start.',
  begin: ({ redis }) => redis.pause(),
  end: ({ redis }) => redis.resume(),
  isNoticed: true,
});
