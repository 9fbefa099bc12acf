/** What the edge asks for, as its signed request says it. */
import type { SessionConfig } from '../../protocol/session-config.ts';
import type { RelayAddress } from '../../protocol/signature.ts';

export interface SessionRequest {
  /** 32 hexadecimal digits, the name of the session. */
  readonly call: string;
  readonly tenant: string;
  readonly ufrag: string;
  /** Milliseconds since the Unix epoch, when the session must end. */
  readonly expiresAt: number;
  /** The candidates of the answer, all of them; the first is the default one. */
  readonly relays: readonly RelayAddress[];
  /** What the caller asks of the voice. */
  readonly session?: SessionConfig | undefined;
}
