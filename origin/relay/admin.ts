/**
 * What operators and their machines ask a relay over HTTP: whether it lives, whether clients should come,
 * its metrics, and what it holds. Holds no secret, yet shows clients' addresses: keep it off the public.
 */
import { Hono } from 'hono';
import ipaddr from 'ipaddr.js';
import { parseAddress } from '../../protocol/address.ts';
import { dumpFlows } from './flow-dump.ts';
import { HAND_OVER_PATH, streamFlows } from './hand-over.ts';
import { RelayMetrics } from './metrics.ts';
import type { Relay } from './relay.ts';

/** Flows that a dump shows unless told otherwise, and at most. */
const DUMP_FLOWS = 100;
export const MAX_DUMP_FLOWS = 1_000;

export type RelayState = 'starting' | 'ready' | 'draining';

export interface AdminOptions {
  /** Undefined until it forwards. */
  readonly relay: () => Relay | undefined;
  readonly state: () => RelayState;
  /** Shown as it is; must be without secrets. */
  readonly config: object;
}

/**
 * - `GET /healthz`: 200 as long as the process serves.
 * - `GET /readyz`: 200, or 503 while it starts or drains. It does not depend on anything outside.
 * - `GET /metrics`: for Prometheus.
 * - `GET /dump?client=ADDRESS&flows=COUNT`: configuration, counters, and the newest flows, or those of one
 *   client; 400 when what is asked makes no sense.
 * - `GET /flows`: all proven flows, for the process that takes this one's place; see hand-over.ts.
 *
 * The last three answer 503 until the relay forwards.
 */
export function adminApp({ relay, state, config }: AdminOptions): Hono {
  const app = new Hono();
  let metrics: RelayMetrics | undefined;
  const metricsOf = (opened: Relay): RelayMetrics =>
    (metrics ??= new RelayMetrics({
      // A region may start its relay anew.
      counters: () => (relay() ?? opened).counters(),
      ready: () => state() === 'ready',
    }));
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', (c) => c.json({ status: state() }, state() === 'ready' ? 200 : 503));
  app.get('/metrics', async (c) => {
    const opened = relay();
    if (!opened) return c.json({ status: state() }, 503);
    const { contentType } = metricsOf(opened);
    return c.body(await metricsOf(opened).scrape(), 200, { 'content-type': contentType });
  });
  app.get('/dump', async (c) => {
    const opened = relay();
    if (!opened) return c.json({ status: state() }, 503);
    const client = c.req.query('client');
    if (client !== undefined && !ipaddr.isValid(client)) {
      return c.text('client must be an IP address, without a port\n', 400);
    }
    const limit = Number(c.req.query('flows') ?? DUMP_FLOWS);
    if (!Number.isInteger(limit) || limit < 0 || limit > MAX_DUMP_FLOWS) {
      return c.text(`flows must be a number from 0 to ${MAX_DUMP_FLOWS}\n`, 400);
    }
    const { listeners, trunk, tcp } = opened;
    const asked = client === undefined ? undefined : parseAddress(client);
    return c.json({
      state: state(),
      config,
      addresses: { listeners, trunk, tcp },
      counters: opened.counters(),
      flows: await dumpFlows(opened.flows, { limit, client: asked }),
    });
  });
  app.get(HAND_OVER_PATH, (c) => {
    const opened = relay();
    return opened ? c.body(streamFlows(opened.flows)) : c.json({ status: state() }, 503);
  });
  return app;
}
