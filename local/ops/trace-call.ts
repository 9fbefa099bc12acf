/** Finds a call: what its id says, and what transceivers, relays and the edge's roster say of it. */
import {
  ask,
  ClustersSchema,
  RelayDumpSchema,
  SessionSchema,
  TransceiverDumpSchema,
  type ShownFlow,
  type ShownSession,
} from './admin-client.ts';

/** What ids of calls begin with in the shape of OpenAI's API. */
const CALL_ID_PREFIX = 'rtc_';

const NAME = /^[0-9a-f]{32}$/;
const ID = /^[A-Za-z0-9_-]{65,151}$/;

/** Flows that a relay is asked for at most, as it gives them. */
const FLOWS = 1_000;

/** A call as people have it: sealed in a URL, or by the name that transceivers log. */
export type NamedCall =
  { readonly kind: 'id'; readonly id: string } | { readonly kind: 'name'; readonly call: string };

/** Total: undefined for what is none. */
export function callIn(text: string): NamedCall | undefined {
  const [path = ''] = text.trim().split(/[?#]/);
  const last = path
    .replace(/\/hangup$/, '')
    .split('/')
    .at(-1)!;
  if (NAME.test(last)) return { kind: 'name', call: last };
  const id = last.startsWith(CALL_ID_PREFIX) ? last.slice(CALL_ID_PREFIX.length) : last;
  return ID.test(id) ? { kind: 'id', id } : undefined;
}

/** What is known of a call before anybody was asked: its name alone, or what its id says. */
export interface KnownCall {
  readonly call: string;
  readonly cluster?: number | undefined;
  readonly transceiver?: number | undefined;
  readonly tenant?: string | undefined;
}

/** Base URLs of admin servers. */
export interface Askable {
  readonly transceivers: readonly string[];
  readonly relays: readonly string[];
  readonly edge: { readonly url: string; readonly key: string } | undefined;
}

/** Plain JSON. */
export interface Trace extends KnownCall {
  readonly session?: ShownSession;
  /** What the transceiver whose the call is said; undefined while it is not known or was not reached. */
  readonly owner?: 'has it' | 'has it no more';
  readonly transceivers: readonly TransceiverSaid[];
  readonly relays: readonly RelaySaid[];
  readonly roster?: RosterSaid;
}

export interface TransceiverSaid {
  readonly url: string;
  readonly cluster?: number;
  readonly id?: number;
  readonly why?: string;
}

export interface RelaySaid {
  readonly url: string;
  readonly cluster?: number;
  /** Flows of the session's client to its transceiver; of any client while that is not known. */
  readonly flows?: readonly ShownFlow[];
  readonly why?: string;
}

export interface RosterSaid {
  readonly entry?: {
    readonly sessions: number;
    readonly capacity: number;
    readonly draining: boolean;
    /** Milliseconds since its last report. */
    readonly silentMs: number;
  };
  readonly why?: string;
}

/** Never rejects: who does not answer is part of what it found. */
export async function traceCall(known: KnownCall, askable: Askable): Promise<Trace> {
  const answers = await Promise.all(
    askable.transceivers.map((url) => askTransceiver(url, known.call)),
  );
  const holder = answers.find(({ session }) => session !== undefined);
  const cluster = known.cluster ?? holder?.said.cluster;
  const transceiver = known.transceiver ?? holder?.said.id;
  const tenant = known.tenant ?? holder?.session?.tenant;
  const session = holder?.session;
  const isOwner = ({ said }: (typeof answers)[number]) =>
    said.cluster !== undefined && said.cluster === cluster && said.id === transceiver;
  const owner = session ? 'has it' : answers.some(isOwner) ? 'has it no more' : undefined;
  const wanted = { cluster, transceiver, client: session?.client };
  const relays = await Promise.all(askable.relays.map((url) => askRelay(url, wanted)));
  const roster = askable.edge && (await askRoster(askable.edge, wanted));
  return {
    call: known.call,
    cluster,
    transceiver,
    tenant,
    ...(session && { session }),
    ...(owner && { owner }),
    transceivers: answers.map(({ said }) => said),
    relays,
    ...(roster && { roster }),
  };
}

async function askTransceiver(url: string, call: string) {
  const [self, found] = await Promise.all([
    ask(`${url}/dump`, TransceiverDumpSchema),
    ask(`${url}/dump/${call}`, SessionSchema),
  ]);
  const said: TransceiverSaid = self.ok
    ? { url, cluster: self.value.config.cluster, id: self.value.config.id }
    : { url, why: self.why };
  return { said, session: found.ok ? found.value : undefined };
}

interface Wanted {
  readonly cluster: number | undefined;
  readonly transceiver: number | undefined;
  readonly client: ShownSession['client'];
}

async function askRelay(url: string, wanted: Wanted): Promise<RelaySaid> {
  const { cluster, transceiver, client } = wanted;
  const query = new URLSearchParams({ flows: String(FLOWS) });
  if (client) query.set('client', client.address);
  const dump = await ask(`${url}/dump?${query.toString()}`, RelayDumpSchema);
  if (!dump.ok) return { url, why: dump.why };
  const flows = dump.value.flows.filter(
    (flow) =>
      flow.cluster === cluster &&
      flow.transceiver === transceiver &&
      (!client || flow.client.endsWith(`:${client.port}`)),
  );
  return { url, cluster: dump.value.config.cluster, flows };
}

async function askRoster(
  { url, key }: NonNullable<Askable['edge']>,
  { cluster, transceiver }: Wanted,
): Promise<RosterSaid> {
  const listed = await ask(`${url}/admin/clusters`, ClustersSchema, `Bearer ${key}`);
  if (!listed.ok) return { why: listed.why };
  const known = listed.value.clusters.find((it) => it.cluster === cluster);
  if (!known) return { why: `the edge has no cluster ${cluster ?? 'of that call'}` };
  if (!known.roster) return { why: 'its roster cannot be read now' };
  const entry = known.roster.find((it) => it.transceiver === transceiver);
  if (!entry)
    return { why: 'the transceiver is not on it: it has ended, or cannot reach the edge' };
  const { sessions, capacity, draining, seenAt } = entry;
  return { entry: { sessions, capacity, draining, silentMs: Math.max(0, Date.now() - seenAt) } };
}
