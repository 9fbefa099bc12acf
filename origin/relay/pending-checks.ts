/** Checks on their way to a transceiver, by transaction id (RFC 8489 §5), each with its token's route. */
import { sameBytes } from './bytes.ts';
import type { FlowRoute } from './flow.ts';

/** Checks remembered for a flow: browsers send one each 50 ms at most, so 0.8 s of them. */
export const PENDING_CHECKS = 16;

/** Milliseconds in which an answer counts. */
export const CHECK_LIFETIME = 5_000;

const TRANSACTION_ID_LENGTH = 12;

export class PendingChecks {
  readonly #ids = new Uint8Array(PENDING_CHECKS * TRANSACTION_ID_LENGTH);
  readonly #routes = Array.from<FlowRoute | undefined>({ length: PENDING_CHECKS });
  readonly #times = new Float64Array(PENDING_CHECKS);
  #next = 0;

  /** Forgets the oldest check when there is no room. */
  add(transactionId: Uint8Array, route: FlowRoute, now: number): void {
    this.#ids.set(transactionId, this.#next * TRANSACTION_ID_LENGTH);
    this.#routes[this.#next] = route;
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % PENDING_CHECKS;
  }

  /** The route of the check that this id answers; undefined when there is none in time. */
  answered(transactionId: Uint8Array, now: number): FlowRoute | undefined {
    for (let i = 0; i < PENDING_CHECKS; i++) {
      const at = i * TRANSACTION_ID_LENGTH;
      const route = this.#routes[i];
      if (!route || now - this.#times[i]! > CHECK_LIFETIME) continue;
      if (sameBytes(this.#ids, at, transactionId, 0, TRANSACTION_ID_LENGTH)) return route;
    }
    return undefined;
  }
}
