/** Everything in a region's Redis is deleted. */
import { flush, redisDrill } from './redis-fault.ts';

export const drill = redisDrill({
  name: 'redis-flushed',
  holds:
    'Redis loses all it knew: no call is interrupted, new ones start, and flows are kept again.',
  begin: flush,
  end: () => undefined,
});
