/**
 * A check of our own, which proves that the client receives at an address. Its checks and media do not:
 * whoever has a session can send them from the address of another, to have us flood it.
 */
import { randomBytes } from 'node:crypto';
import { classes } from 'werift';
import type { IceGeneration } from './ice-credentials.ts';
import { ownCheck, proven } from './ice-messages.ts';

/** Milliseconds between two sendings of one probe. */
export const PROBE_INTERVAL = 100;

const TRANSACTION_ID_LENGTH = 12;

export class PathProbe {
  /** The check, the same each time it is sent (RFC 8489 §6.2.1). */
  readonly packet: Buffer;
  readonly #id = randomBytes(TRANSACTION_ID_LENGTH);
  readonly #key: Buffer;
  #sentAt = -Infinity;

  constructor(generation: IceGeneration) {
    this.packet = ownCheck(this.#id, generation);
    this.#key = Buffer.from(generation.client.password);
  }

  /** Whether it is to be sent now; each true is a sending. */
  isDue(): boolean {
    const now = performance.now();
    if (now - this.#sentAt < PROBE_INTERVAL) return false;
    this.#sentAt = now;
    return true;
  }

  /** Total: whether the packet is the answer of the client, which only one who got the probe can send. */
  isAnsweredBy(packet: Buffer): boolean {
    const answer = proven(packet, this.#key);
    return answer?.messageClass === classes.RESPONSE && answer.transactionId.equals(this.#id);
  }
}
