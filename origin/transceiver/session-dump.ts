/** What a session shows of itself, as plain data: for operators, logs and tests. */
import type { AudioCodec } from '../backend/backend.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { DtlsDrops } from './dtls-records.ts';
import type { IceCounters } from './ice-lite.ts';
import type { RtcpStats } from './rtcp-session.ts';
import type { DataCounters } from './sctp.ts';
import type { MediaCounters } from './session-media.ts';
import type { StageTimings } from './session-stages.ts';

export type SessionState = 'checking' | 'securing' | 'connected' | 'ended';

export interface SessionDump {
  /** 32 hexadecimal digits, as the edge named the call. */
  readonly call: string;
  readonly tenant: string;
  readonly state: SessionState;
  /** Milliseconds since the offer. */
  readonly age: number;
  /** Undefined when the offer had no audio. */
  readonly codec: AudioCodec | undefined;
  /** Where the client is, and the trunk address it is reached through; undefined before its first check. */
  readonly client: TrunkAddress | undefined;
  readonly relay: TrunkAddress | undefined;
  readonly timings: StageTimings;
  /** Undefined before DTLS is done, and without audio. */
  readonly quality: RtcpStats | undefined;
  readonly counters: MediaCounters & {
    readonly dtlsIn: number;
    readonly dtlsDrops: DtlsDrops;
    readonly ice: IceCounters;
    readonly data: DataCounters | undefined;
  };
}
