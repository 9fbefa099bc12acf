/** Everything in a region's Redis is deleted. */
import { flush, redisDrill } from './redis-fault.ts';

export const drill = redisDrill({
  name: 'redis-flushed',
  holds: 'Redis loses all it knew: no call is interrupted, and new ones start.',
  begin: flush,
  end: () => undefined,
  isNoticed: false,
});
