/**
 * The admin server of a whole region in one process: that of its relay, and those of its transceivers under
 * `/transceivers/ID`. Shows clients' addresses: keep it off the public.
 */
import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import type { RegionConfig } from './region-config.ts';
import { adminApp as relayAdmin } from './relay/admin.ts';
import type { Relay } from './relay/relay.ts';
import { adminApp as transceiverAdmin } from './transceiver/admin.ts';
import type { TransceiverMetrics } from './transceiver/metrics.ts';
import type { Transceiver } from './transceiver/transceiver.ts';

export interface BoxAdminOptions {
  readonly config: RegionConfig;
  /** Undefined where it is a process of its own, whose admin server is asked then. */
  readonly relay: () => Relay | undefined;
  /** By transceiver id, as are their metrics. */
  readonly transceivers: ReadonlyMap<number, Transceiver>;
  readonly metrics: ReadonlyMap<number, TransceiverMetrics>;
}

export function boxAdmin({ config, relay, transceivers, metrics }: BoxAdminOptions): Hono {
  const { region, cluster, peers, routes } = config;
  const app = new Hono();
  for (const [id, transceiver] of transceivers) {
    const own = transceiverAdmin({
      state: () => 'ready',
      refusal: () => undefined,
      transceiver: () => transceiver,
      metrics: metrics.get(id)!,
      config: { region, cluster, id },
    });
    app.route(`/transceivers/${id}`, own);
  }
  const { relayAdmin: apart } = config;
  if (apart !== undefined) {
    app.get('*', (c) => {
      const { pathname, search } = new URL(c.req.url);
      return proxy(apart + pathname + search);
    });
    return app;
  }
  const shown = { region, cluster, relay: config.relay, peers, routes };
  app.route('/', relayAdmin({ relay, state: () => 'ready', config: shown }));
  return app;
}
