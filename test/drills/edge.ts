/** The edge of a drill: a process with workerd below it, that can be killed and started again on its port. */
import * as v from 'valibot';
import { startChild, type Child } from '../../local/child.ts';
import { edgeEnvironment } from '../../local/edge-options.ts';
import type { EdgeService } from '../../local/edge-process.ts';
import { LOOPBACK } from '../../local/ports.ts';
import type { Plan } from '../../local/plan.ts';
import { openScratch, type Scratch } from '../../local/scratch.ts';
import { DEMO_ADMIN_KEY, LOCAL_TENANTS, sha256 } from '../../local/tenants.ts';

const MODULE = new URL('../../local/edge-process.ts', import.meta.url);
const WRANGLER_TOML = new URL('../../wrangler.toml', import.meta.url).pathname;

export interface EdgeStart {
  /** Kills it. */
  readonly signal: AbortSignal;
  /** Takes what it logs. */
  readonly log: (line: string) => void;
}

/** What drills read of `GET /admin/clusters`. */
const ClustersSchema = v.object({
  clusters: v.array(
    v.object({
      region: v.string(),
      roster: v.nullable(v.array(v.object({ transceiver: v.number(), draining: v.boolean() }))),
    }),
  ),
});

export class DrillEdge implements AsyncDisposable {
  /** Base URL. */
  readonly url: string;
  readonly #plan: Plan;
  readonly #scratch: Scratch;
  readonly #options: EdgeStart;
  #child: Child<EdgeService['answers']> | undefined;

  private constructor(plan: Plan, scratch: Scratch, options: EdgeStart) {
    this.url = `http://${LOOPBACK}:${plan.edgePort}`;
    this.#plan = plan;
    this.#scratch = scratch;
    this.#options = options;
  }

  static async start(plan: Plan, options: EdgeStart): Promise<DrillEdge> {
    const edge = new DrillEdge(plan, await openScratch(), options);
    try {
      await edge.start();
      return edge;
    } catch (error) {
      await edge[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Settles once it serves. KV and objects are as they were, for Cloudflare keeps them too. */
  async start(): Promise<void> {
    const { edgePort, routingKeys, signingKey, clientSecretKeys, steering } = this.#plan;
    const options = edgeEnvironment({
      configPath: WRANGLER_TOML,
      port: edgePort,
      secrets: {
        ROUTING_KEYS: routingKeys,
        SIGNING_KEY: signingKey,
        CLIENT_SECRET_KEYS: clientSecretKeys,
        ADMIN_KEY_HASH: sha256(DEMO_ADMIN_KEY),
      },
      steering,
      tenants: LOCAL_TENANTS,
      persist: `${this.#scratch.path}/state`,
    });
    const { child } = await startChild<EdgeService>({
      name: 'edge',
      module: MODULE,
      env: { ...options, TMPDIR: this.#scratch.path },
      signal: this.#options.signal,
      onErrorLine: this.#options.log,
    });
    this.#child = child;
  }

  /** Who its rosters say takes calls: transceivers by region. */
  async rosters(): Promise<Readonly<Record<string, readonly number[]>>> {
    const headers = { authorization: `Bearer ${DEMO_ADMIN_KEY}` };
    const response = await fetch(`${this.url}/admin/clusters`, { headers });
    const { clusters } = v.parse(ClustersSchema, await response.json());
    return Object.fromEntries(
      clusters.map(({ region, roster }) => {
        const takers = (roster ?? []).filter(({ draining }) => !draining);
        return [region, takers.map(({ transceiver }) => transceiver)];
      }),
    );
  }

  /** Ends it without a word to anybody; settles once it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    const ended = new Promise<void>((resolve) => child.onEnd(() => resolve()));
    child.kill();
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.close();
    await this.#scratch.remove();
  }
}
