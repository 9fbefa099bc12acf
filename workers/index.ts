/** The edge Worker: the global signaling URL, the roster of each cluster, and the calls of each capped tenant. */
import { app } from './app.ts';

export { Roster } from './roster.ts';
export { TenantCalls } from './tenant-calls.ts';
export default app;
