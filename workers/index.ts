/** The edge Worker: the global signaling URL, and the roster of each cluster. */
import { app } from './app.ts';

export { Roster } from './roster.ts';
export default app;
