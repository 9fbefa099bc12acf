/** What was found of a call, in words. */
import { formatTable } from '../table.ts';
import { describeCluster, type ClusterRegion } from './clusters.ts';
import type { RelaySaid, Trace, TransceiverSaid } from './trace-call.ts';

/** Flows of one relay that are listed. */
const LISTED_FLOWS = 10;

/** @param asked Whether any transceiver was to be asked. */
export function describeTrace(
  trace: Trace,
  region: ClusterRegion | undefined,
  asked: boolean,
): string {
  const { call, cluster, transceiver, tenant, session } = trace;
  const rows: string[][] = [['call', `${call}, as transceivers log it`]];
  if (tenant !== undefined) rows.push(['tenant', tenant]);
  if (cluster !== undefined) rows.push(['cluster', describeCluster(cluster, region)]);
  if (transceiver !== undefined) rows.push(['transceiver', String(transceiver)]);
  for (const said of trace.transceivers) {
    if (said.why !== undefined) rows.push(['not reached', `${said.url}: ${said.why}`]);
  }
  rows.push(['session', sessionWords(trace, asked)]);
  if (session?.client) {
    const { client, relay } = session;
    const by = relay ? `, by the relay ${relay.address}:${relay.port}` : '';
    rows.push(['client', `${client.address}:${client.port}${by}`]);
  }
  for (const said of trace.relays) rows.push(...relayRows(said, session?.client !== undefined));
  if (trace.roster) rows.push(['roster', rosterWords(trace.roster)]);
  return formatTable(rows);
}

function sessionWords({ session, owner, transceivers }: Trace, asked: boolean): string {
  if (session) {
    const { state, age, codec } = session;
    const heard = codec === undefined ? 'without audio' : codec;
    return `${state}, ${heard}, for ${(age / 1000).toFixed(0)} s`;
  }
  if (!asked) return 'not asked for; name the admin server of its transceiver by --transceiver';
  if (owner === 'has it no more') {
    return 'its transceiver has it no more: the line "session ended" of its log says why, by the call above';
  }
  const others = transceivers.filter(({ why }) => why === undefined).map(nameOf);
  return others.length > 0
    ? `not with ${others.join(', ')}; name the transceiver it belongs to`
    : 'nobody could be asked for it';
}

function nameOf({ cluster, id }: TransceiverSaid): string {
  return `transceiver ${id} of cluster ${cluster}`;
}

function relayRows({ url, cluster, flows, why }: RelaySaid, isKnown: boolean): string[][] {
  if (!flows) return [['not reached', `${url}: ${why}`]];
  const whose = isKnown ? 'of this session' : 'to that transceiver';
  const count = flows.length === 1 ? '1 flow' : `${flows.length} flows`;
  const head = ['relay', `${url}, of cluster ${cluster}: ${count} ${whose}`];
  const listed = flows
    .slice(0, LISTED_FLOWS)
    .map(({ client, state, ageMs, idleMs }) => [
      '',
      `${client}, ${state}, ${seconds(ageMs)} old, last heard ${seconds(idleMs)} ago`,
    ]);
  return [head, ...listed];
}

function rosterWords({ entry, why }: NonNullable<Trace['roster']>): string {
  if (!entry) return why ?? '';
  const { sessions, capacity, draining, silentMs } = entry;
  const drains = draining ? ', draining' : '';
  return `${sessions} of ${capacity} sessions${drains}, reported ${seconds(silentMs)} ago`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
