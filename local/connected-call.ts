/** What a scripted call tells of itself. */

/** Milliseconds since the offer was sent. */
export interface CallStages {
  /** The answer is here. */
  readonly signaling: number;
  readonly ice: number;
  readonly dtls: number;
  /** The data channel is open, and what was sent on it is back. */
  readonly dataChannel: number;
  readonly dataEcho: number;
  /** The first sound that is more than silence. */
  readonly firstAudio: number;
  /** The tone is what is heard. */
  readonly tone: number;
}

/** What a call went through until the tone was heard. */
export interface ConnectedCall {
  readonly stages: CallStages;
  /** Milliseconds that the edge says it spent on each of its steps. */
  readonly serverTiming: Readonly<Record<string, number>>;
  /** `colo`, `cluster`, `ingress`, `transceiver`. */
  readonly path: Readonly<Record<string, string>>;
  /** Where the answer lets media go, as `ADDRESS:PORT/TRANSPORT`. */
  readonly candidates: readonly string[];
  /** Path of the call's URL. */
  readonly location: string;
}
