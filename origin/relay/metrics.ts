/**
 * A relay's counts for Prometheus. Hot paths count in shared memory; what is exposed is read from there
 * when somebody asks.
 */
import { Histogram } from 'prom-client';
import { CollectedMetrics, type Add } from '../collected-metrics.ts';
import { REDIS_STATES } from '../redis/guarded-redis.ts';
import { PACKET_CLASSES, type RelayCounters, type Traffic, type WayName } from './counters.ts';
import type { HistogramCounts } from './histogram.ts';

/** How metrics call what {@link RelayCounters} does. */
const DIRECTIONS: Readonly<Record<WayName, string>> = {
  fromClients: 'from_clients',
  toClients: 'to_clients',
  fromTrunk: 'from_trunk',
  toTrunk: 'to_trunk',
};

export interface RelayMetricsSource {
  counters(): RelayCounters;
  /** Whether new clients should come here. */
  ready(): boolean;
}

export class RelayMetrics {
  readonly #metrics = new CollectedMetrics();
  readonly #source: RelayMetricsSource;
  #now: RelayCounters;

  constructor(source: RelayMetricsSource) {
    this.#source = source;
    this.#now = source.counters();
    this.#describeTraffic();
    this.#describeFlows();
    this.#describeTcp();
    if (this.#now.recovery) this.#describeRecovery();
    this.#metrics.gauge('relay_ready', 'Whether new clients should come here', [], (add) =>
      add(source.ready() ? 1 : 0),
    );
  }

  get contentType(): string {
    return this.#metrics.registry.contentType;
  }

  /** The text format of Prometheus. */
  scrape(): Promise<string> {
    this.#now = this.#source.counters();
    return this.#metrics.registry.metrics();
  }

  #describeTraffic(): void {
    const each = (pick: (traffic: Traffic) => number) => (add: Add) => {
      for (const [way, direction] of ways()) {
        for (const name of PACKET_CLASSES) {
          add(pick(this.#now.classes[way][name]), { direction, class: name });
        }
      }
    };
    const labels = ['direction', 'class'];
    this.#metrics.counter(
      'relay_packets_total',
      'Packets of clients and frames of the trunk, by their first byte',
      labels,
      each(({ packets }) => packets),
    );
    this.#metrics.counter(
      'relay_bytes_total',
      'Bytes of payload, without headers of UDP, IP and trunk',
      labels,
      each(({ bytes }) => bytes),
    );
    this.#metrics.counter(
      'relay_drops_total',
      'Packets dropped, see docs/relay.md',
      ['reason'],
      (add) => {
        for (const [reason, count] of Object.entries(this.#now.drops)) add(count, { reason });
      },
    );
    this.#metrics.counter(
      'relay_send_errors_total',
      'Datagrams the system refused to send',
      [],
      (add) => add(this.#now.sendErrors),
    );
    this.#histogram(
      'relay_batch_packets',
      'Datagrams received at once',
      () => this.#now.batchPackets,
    );
    this.#histogram(
      'relay_forward_latency_seconds',
      'Time from receiving a datagram to having sent it on; a sample',
      () => this.#now.forwardLatency,
    );
  }

  #describeFlows(): void {
    this.#metrics.gauge('relay_flows', 'Flows at this moment', ['state'], (add) => {
      for (const [state, count] of Object.entries(this.#now.flows)) add(count, { state });
    });
    this.#metrics.counter(
      'relay_flow_creations_total',
      'Flows that began, by what made them; threads share one table, so none is made of another',
      ['source'],
      (add) => {
        for (const [source, count] of Object.entries(this.#now.createdFlows)) {
          add(count, { source });
        }
      },
    );
    this.#metrics.counter('relay_flow_ends_total', 'Flows forgotten', ['reason'], (add) => {
      add(this.#now.expiredFlows, { reason: 'expired' });
      add(this.#now.evictedFlows, { reason: 'evicted' });
    });
    this.#metrics.counter(
      'relay_flow_repointings_total',
      'Proven flows that moved to another transceiver',
      [],
      (add) => add(this.#now.repointings),
    );
    this.#metrics.counter(
      'relay_token_checks_total',
      'Tokens in connectivity checks, by what came of them',
      ['result', 'key_id'],
      (add) => {
        for (const { result, keyId, count } of this.#now.tokenChecks) {
          add(count, { result, key_id: keyId });
        }
      },
    );
  }

  /** Only of a relay with Redis; that it has one does not change. */
  #describeRecovery(): void {
    this.#metrics.counter(
      'relay_flow_lookups_total',
      'Flows that packets lacked, as asked for',
      [],
      (add) => add(this.#now.lookups.flows),
    );
    this.#metrics.counter(
      'relay_held_packets_total',
      'Packets that waited for their flow',
      [],
      (add) => add(this.#now.lookups.heldPackets),
    );
    this.#metrics.counter(
      'relay_released_packets_total',
      'Packets that waited for their flow and went on by it',
      [],
      (add) => add(this.#now.lookups.releasedPackets),
    );
    this.#metrics.counter(
      'relay_flow_reads_total',
      'Flows looked for in Redis',
      ['result'],
      (add) => {
        const { reads } = this.#now.recovery!;
        for (const [result, count] of Object.entries(reads)) add(count, { result });
      },
    );
    this.#metrics.counter('relay_flow_writes_total', 'Flows written to Redis', [], (add) =>
      add(this.#now.recovery!.writes.written),
    );
    this.#metrics.counter(
      'relay_flow_write_errors_total',
      'Requests to write that failed',
      [],
      (add) => add(this.#now.recovery!.writes.failed),
    );
    this.#metrics.gauge('relay_flow_writes_queued', 'Flows that wait to be written', [], (add) =>
      add(this.#now.recovery!.writes.queued),
    );
    this.#histogram(
      'relay_rebuild_seconds',
      'Time from a packet without its flow to the flow restored for it',
      () => this.#now.recovery!.rebuild,
    );
    this.#metrics.counter('relay_redis_requests_total', 'Requests to Redis', ['result'], (add) => {
      const { state: _, ...results } = this.#now.recovery!.redis;
      for (const [result, count] of Object.entries(results)) add(count, { result });
    });
    this.#metrics.gauge(
      'relay_redis_state',
      'One for the state of the circuit breaker, or away without a connection; others are zero',
      ['state'],
      (add) => {
        const now = this.#now.recovery!.redis.state;
        for (const state of REDIS_STATES) add(state === now ? 1 : 0, { state });
      },
    );
  }

  #describeTcp(): void {
    this.#metrics.gauge('relay_tcp_connections', 'Open TCP connections of clients', [], (add) =>
      add(this.#now.tcp.open),
    );
    this.#metrics.counter('relay_tcp_accepted_total', 'TCP connections accepted', [], (add) =>
      add(this.#now.tcp.accepted),
    );
    this.#metrics.counter(
      'relay_tcp_closed_total',
      'TCP connections the relay ended or refused',
      ['reason'],
      (add) => {
        for (const [reason, count] of Object.entries(this.#now.tcp.closed)) add(count, { reason });
      },
    );
  }

  #histogram(name: string, help: string, counts: () => HistogramCounts): void {
    this.#metrics.registry.registerMetric(new CountedHistogram(name, help, counts));
  }
}

/** A histogram that was counted elsewhere; prom-client has none that can be filled so. */
class CountedHistogram extends Histogram {
  readonly #name: string;
  readonly #counts: () => HistogramCounts;
  /** Knows all that is to be said of such a metric but its values. */
  readonly #empty: Histogram;

  constructor(name: string, help: string, counts: () => HistogramCounts) {
    super({ name, help, registers: [] });
    this.#name = name;
    this.#counts = counts;
    this.#empty = new Histogram({ name, help, registers: [] });
  }

  override async get() {
    const { bounds, counts, sum } = this.#counts();
    let total = 0;
    const values = counts.map((count, i) => ({
      metricName: `${this.#name}_bucket`,
      labels: { le: i < bounds.length ? bounds[i]! : '+Inf' },
      value: (total += count),
    }));
    const rest = [
      { metricName: `${this.#name}_sum`, labels: {}, value: sum },
      { metricName: `${this.#name}_count`, labels: {}, value: total },
    ];
    return { ...(await this.#empty.get()), values: [...values, ...rest] };
  }

  /** What the registry asks instead of {@link get}. */
  getForPromString() {
    return this.get();
  }
}

function ways(): [WayName, string][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the keys' type
  return Object.entries(DIRECTIONS) as [WayName, string][];
}
