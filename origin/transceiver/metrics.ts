/** A transceiver's counts for Prometheus. Their labels are closed sets: nothing a client sends is one. */
import { Histogram } from 'prom-client';
import { CollectedMetrics } from '../collected-metrics.ts';
import type { EndReason } from './end-reason.ts';
import { liveNativeObjects } from './native-objects.ts';
import type { SessionDump } from './session-dump.ts';
import type { Stage } from './session-stages.ts';
import type { TransceiverCounters } from './transceiver-counts.ts';
import type { Transceiver, TransceiverObserver } from './transceiver.ts';

const STAGE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const ROUND_TRIP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2];
const JITTER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25];
const LOSS_RATIOS = [0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const LENGTH_SECONDS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];

/** How metrics call stages. */
const STAGE_LABELS: Readonly<Record<Stage | 'answer', string>> = {
  answer: 'answer',
  firstStun: 'first_stun',
  ice: 'ice',
  dtls: 'dtls',
  sctp: 'sctp',
  firstRtpIn: 'first_rtp_in',
  firstRtpOut: 'first_rtp_out',
  firstBackendAudio: 'first_backend_audio',
};

export class TransceiverMetrics implements TransceiverObserver {
  readonly #metrics = new CollectedMetrics();
  readonly #stages: Histogram<'stage'>;
  readonly #lengths: Histogram;
  readonly #roundTrips: Histogram;
  readonly #jitter: Histogram<'direction'>;
  readonly #loss: Histogram<'direction'>;
  #source: Transceiver | undefined;
  #now: TransceiverCounters | undefined;

  constructor() {
    const registers = [this.#metrics.registry];
    this.#stages = new Histogram({
      name: 'transceiver_setup_seconds',
      help: 'Time from the offer to the first time a session reached a stage',
      labelNames: ['stage'],
      buckets: STAGE_SECONDS,
      registers,
    });
    this.#lengths = new Histogram({
      name: 'transceiver_session_seconds',
      help: 'Time from the offer of a session to its end',
      buckets: LENGTH_SECONDS,
      registers,
    });
    this.#roundTrips = new Histogram({
      name: 'transceiver_session_round_trip_seconds',
      help: 'Round trip to the client as RTCP last told at the end of a session',
      buckets: ROUND_TRIP_SECONDS,
      registers,
    });
    this.#jitter = new Histogram({
      name: 'transceiver_session_jitter_seconds',
      help: 'Interarrival jitter of audio (RFC 3550) at the end of a session',
      labelNames: ['direction'],
      buckets: JITTER_SECONDS,
      registers,
    });
    this.#loss = new Histogram({
      name: 'transceiver_session_loss_ratio',
      help: 'Share of the audio packets of a session that were lost',
      labelNames: ['direction'],
      buckets: LOSS_RATIOS,
      registers,
    });
  }

  get contentType(): string {
    return this.#metrics.registry.contentType;
  }

  /** From now on there are counts to be read. */
  describe(transceiver: Transceiver): void {
    this.#source = transceiver;
    this.#describeSessions(transceiver);
    this.#describePackets();
    this.#describeTrunk(transceiver);
  }

  stage(stage: Stage | 'answer', seconds: number): void {
    this.#stages.observe({ stage: STAGE_LABELS[stage] }, seconds);
  }

  ended(_reason: EndReason, last: SessionDump): void {
    this.#lengths.observe(last.age / 1000);
    const { quality, counters } = last;
    if (!quality) return;
    const { rttMs, jitterMs, lost, received, outbound } = quality;
    if (rttMs !== undefined) this.#roundTrips.observe(rttMs / 1000);
    if (received > 0) {
      this.#jitter.observe({ direction: 'in' }, jitterMs / 1000);
      this.#loss.observe({ direction: 'in' }, ratio(lost, lost + received));
    }
    if (outbound && counters.rtpOut > 0) {
      this.#jitter.observe({ direction: 'out' }, outbound.jitterMs / 1000);
      this.#loss.observe({ direction: 'out' }, ratio(outbound.lost, counters.rtpOut));
    }
  }

  /** The text format of Prometheus. */
  scrape(): Promise<string> {
    this.#now = this.#source?.counters();
    return this.#metrics.registry.metrics();
  }

  #describeSessions(transceiver: Transceiver): void {
    const metrics = this.#metrics;
    metrics.gauge('transceiver_sessions', 'Sessions at this moment', ['state'], (add) => {
      for (const [state, count] of entries(this.#now?.sessions)) add(count, { state });
    });
    metrics.gauge('transceiver_capacity', 'Most sessions at a time', [], (add) =>
      add(transceiver.report().capacity),
    );
    metrics.gauge('transceiver_draining', '1 when it takes no new sessions', [], (add) =>
      add(transceiver.report().draining ? 1 : 0),
    );
    metrics.gauge(
      'transceiver_native_objects',
      'Objects of OpenSSL that are not freed yet',
      ['kind'],
      (add) => {
        for (const [kind, count] of entries(liveNativeObjects())) {
          add(count, { kind: snakeCase(kind) });
        }
      },
    );
    metrics.counter('transceiver_sessions_created_total', 'Offers answered', [], (add) =>
      add(this.#now?.created ?? 0),
    );
    metrics.counter(
      'transceiver_sessions_refused_total',
      'Sessions not made',
      ['reason'],
      (add) => {
        for (const [reason, count] of entries(this.#now?.refused)) add(count, { reason });
      },
    );
    metrics.counter('transceiver_sessions_ended_total', 'Sessions ended', ['reason'], (add) => {
      for (const [reason, count] of entries(this.#now?.ended)) add(count, { reason });
    });
  }

  #describePackets(): void {
    const metrics = this.#metrics;
    metrics.counter(
      'transceiver_media_packets_total',
      'RTP and RTCP packets sent and taken, and those refused, with why',
      ['result'],
      (add) => {
        const { ice: _ice, data: _data, dtlsDrops: _drops, ...media } = this.#now?.packets ?? {};
        for (const [result, count] of leaves(media)) add(count, { result });
      },
    );
    metrics.counter(
      'transceiver_dtls_drops_total',
      'DTLS records that went no further',
      ['reason'],
      (add) => {
        for (const [reason, count] of leaves(this.#now?.packets?.dtlsDrops)) add(count, { reason });
      },
    );
    metrics.counter('transceiver_checks_total', 'What ICE did and refused', ['result'], (add) => {
      for (const [result, count] of leaves(this.#now?.packets?.ice)) add(count, { result });
    });
    metrics.counter(
      'transceiver_data_total',
      'Messages of data channels sent and taken, and what was refused',
      ['result'],
      (add) => {
        for (const [result, count] of leaves(this.#now?.packets?.data)) add(count, { result });
      },
    );
  }

  #describeTrunk(transceiver: Transceiver): void {
    const metrics = this.#metrics;
    const trunk = () => transceiver.trunkCounters();
    metrics.counter('transceiver_trunk_frames_total', 'Frames', ['direction'], (add) => {
      add(trunk().framesIn, { direction: 'in' });
      add(trunk().framesOut, { direction: 'out' });
    });
    metrics.counter('transceiver_trunk_bytes_total', 'Payload', ['direction'], (add) => {
      add(trunk().bytesIn, { direction: 'in' });
      add(trunk().bytesOut, { direction: 'out' });
    });
    metrics.counter('transceiver_trunk_send_errors_total', 'Frames not sent', [], (add) =>
      add(trunk().sendErrors),
    );
    metrics.counter('transceiver_trunk_drops_total', 'Frames dropped', ['reason'], (add) => {
      for (const [reason, count] of Object.entries(trunk().drops)) add(count, { reason });
    });
  }
}

/** Within 0 and 1: duplicates make a count of losses negative (RFC 3550 §6.4.1), clients any number. */
function ratio(part: number, whole: number): number {
  return Math.min(1, Math.max(0, part / whole));
}

function entries(counts: Readonly<Record<string, number>> | undefined): [string, number][] {
  return Object.entries(counts ?? {});
}

/** All counts, however deep they stand, under names as metrics write them. */
function leaves(counts: object | undefined, prefix = ''): [string, number][] {
  return Object.entries(counts ?? {}).flatMap(([name, value]): [string, number][] => {
    const label = prefix + snakeCase(name);
    if (typeof value === 'number') return [[label, value]];
    return typeof value === 'object' && value !== null ? leaves(value, `${label}_`) : [];
  });
}

function snakeCase(name: string): string {
  return name.replaceAll('-', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
