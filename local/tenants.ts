/** Who may call in a local run: anybody, and a demo tenant whose API key everybody knows. */
import { createHash } from 'node:crypto';

/** For trying things out; it opens nothing but an edge on this machine. */
export const DEMO_API_KEY = 'sk_demo_known-to-all-and-good-on-this-machine-alone';

const callsPerMinute = 6000;

/** As the edge has them in KV. The page, and what else shows nothing, calls as `public`. */
export const LOCAL_TENANTS = {
  public: { keys: [], callsPerMinute },
  demo: {
    keys: [createHash('sha256').update(DEMO_API_KEY).digest('hex')],
    callsPerMinute,
    concurrentCalls: 100,
  },
};
