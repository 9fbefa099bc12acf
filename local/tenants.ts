/** Who may do what in a local run: anybody calls, and the keys of a demo tenant and of the admin API are known to all. */
import { createHash } from 'node:crypto';

/** For trying things out; it opens nothing but an edge on this machine. */
export const DEMO_API_KEY = 'sk_demo_known-to-all-and-good-on-this-machine-alone';

/** Of the admin API, in `npm start`. */
export const DEMO_ADMIN_KEY = 'admin_known-to-all-and-good-on-this-machine-alone';

const callsPerMinute = 6000;

/** As the edge has them in KV. The page, and what else shows nothing, calls as `public`. */
export const LOCAL_TENANTS = {
  public: { keys: [], callsPerMinute },
  demo: {
    keys: [sha256(DEMO_API_KEY)],
    callsPerMinute,
    concurrentCalls: 100,
  },
};

/** In hexadecimal, as the edge keeps keys. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
