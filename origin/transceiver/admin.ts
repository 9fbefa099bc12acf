/**
 * What operators and their machines ask a transceiver over HTTP: whether it lives, whether it takes
 * sessions, its metrics, and what it holds. Shows clients' addresses: keep it off the public.
 */
import { Hono } from 'hono';
import type { TransceiverMetrics } from './metrics.ts';
import type { Transceiver } from './transceiver.ts';

export type TransceiverState = 'starting' | 'ready' | 'draining';

export interface AdminOptions {
  readonly state: () => TransceiverState;
  /** What to do about an edge that does not take this transceiver; undefined while none refuses it. */
  readonly refusal: () => string | undefined;
  /** Undefined while it starts. */
  readonly transceiver: () => Transceiver | undefined;
  readonly metrics: TransceiverMetrics;
  /** Shown as it is; must be without secrets. */
  readonly config: object;
}

const CALL = /^[0-9a-f]{32}$/;

/**
 * - `GET /healthz`: 200 as long as the process serves.
 * - `GET /readyz`: 200, or 503 while it starts, drains, or is refused by the edge, with what to do. An edge
 *   that cannot be reached makes no difference: it would take every transceiver out at once.
 * - `GET /metrics`: for Prometheus.
 * - `GET /dump`: configuration, counters and all sessions. `GET /dump/CALL`: one session, by the 32 digits
 *   that logs call it; 404 when it is not here.
 */
export function adminApp({ state, refusal, transceiver, metrics, config }: AdminOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', (c) => {
    const advice = refusal();
    if (state() !== 'ready' || advice === undefined) {
      return c.json({ status: state() }, state() === 'ready' ? 200 : 503);
    }
    return c.json({ status: 'refused', advice }, 503);
  });
  app.get('/metrics', async (c) =>
    c.body(await metrics.scrape(), 200, { 'content-type': metrics.contentType }),
  );
  app.get('/dump', (c) => {
    const here = transceiver();
    return c.json({
      state: state(),
      config,
      counters: here?.counters(),
      transceiver: here?.dump(),
    });
  });
  app.get('/dump/:call', (c) => {
    const call = c.req.param('call');
    if (!CALL.test(call)) return c.text('A call is named by its 32 digits, as in logs\n', 400);
    const session = transceiver()?.dump(call).sessions[0];
    return session ? c.json(session) : c.text('There is no such call here\n', 404);
  });
  return app;
}
