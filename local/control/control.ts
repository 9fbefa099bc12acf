/**
 * What the page of a local run may do to it: kill a relay, drain a region. It listens on loopback, and a
 * request counts only when it is addressed to it by that address, and comes from the page: another site in
 * the same browser, even one whose name has come to mean 127.0.0.1, has another Origin or Host.
 */
import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { serveHttp } from '../../origin/http-server.ts';
import { reasonsOf } from '../../origin/reasons.ts';
import { problemResponse } from '../../protocol/problem.ts';
import { LOOPBACK } from '../ports.ts';
import type { RegionHandle } from '../region-handle.ts';

export interface ControlOptions {
  /** TCP port of the edge, which serves the page. */
  readonly edgePort: number;
  /** By name; they may come later. */
  readonly regions: ReadonlyMap<string, Pick<RegionHandle, 'killRelay'>>;
  /** Cluster ids by region. */
  readonly clusters: ReadonlyMap<string, number>;
  /** Of the edge's admin API. */
  readonly adminKey: string;
}

export interface Control {
  /** Base URL without a final slash. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startControl(options: ControlOptions): Promise<Control> {
  const origins = ['localhost', LOOPBACK].map((host) => `http://${host}:${options.edgePort}`);
  let host = '';
  const app = new Hono();
  app.use((context, next) => fromPage(origins, host)(context, next));
  app.use(cors({ origin: origins, allowMethods: ['POST', 'PUT', 'DELETE'] }));
  app.post('/relays/:region/kill', async (context) => {
    const region = options.regions.get(context.req.param('region'));
    return region ? context.json(await region.killRelay()) : noRegion();
  });
  app.on(['PUT', 'DELETE'], '/drained/:region', async (context) => {
    const cluster = options.clusters.get(context.req.param('region'));
    if (cluster === undefined) return noRegion();
    const answer = await fetch(
      `http://${LOOPBACK}:${options.edgePort}/admin/clusters/${cluster}/drain`,
      {
        method: context.req.method,
        headers: { authorization: `Bearer ${options.adminKey}` },
      },
    );
    const type = answer.headers.get('content-type') ?? '';
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': type } });
  });
  app.notFound(() => problemResponse('not-found', 'The local control does no such thing.'));
  app.onError((error) => problemResponse('internal', reasonsOf(error)));
  const server = await serveHttp(app.fetch, { address: LOOPBACK, port: 0 }, 'control');
  host = `${LOOPBACK}:${server.address.port}`;
  return { url: `http://${host}`, close: () => server.close() };
}

/** Browsers send an Origin with every request that changes something; what has none is no page. */
function fromPage(origins: readonly string[], host: string): MiddlewareHandler {
  return async (context, next) => {
    const isMine = context.req.header('host') === host;
    const isPage = origins.includes(context.req.header('origin') ?? '');
    if (isMine && isPage) return next();
    return problemResponse('forbidden', 'Only the page of this local run may ask that.');
  };
}

function noRegion(): Response {
  return problemResponse('not-found', 'There is no such region.');
}
