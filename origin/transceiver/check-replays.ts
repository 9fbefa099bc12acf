/** Memory of a session's checks: whoever sees one could take over by sending it from elsewhere. */

/** Checks remembered of a session: hours of them at a browser's pace. */
export const MAX_REMEMBERED_CHECKS = 4_096;

export class CheckReplays {
  /** Paths of checks by what their transaction ids begin with, oldest first. */
  readonly #paths = new Map<number, string>();

  /** True for a check that came by another path before; the same path may retransmit. */
  isReplay(transactionId: Buffer, path: string): boolean {
    const id = transactionId.readUIntBE(0, 6);
    const before = this.#paths.get(id);
    if (before !== undefined) return before !== path;
    if (this.#paths.size >= MAX_REMEMBERED_CHECKS) {
      for (const oldest of this.#paths.keys()) {
        this.#paths.delete(oldest);
        break;
      }
    }
    this.#paths.set(id, path);
    return false;
  }
}
