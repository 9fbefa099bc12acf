/** All TCP connections of clients, found by where they come from, and within their limits. */
import type { CloseReason, Counters } from './counters.ts';
import { connectionKey, type TcpConnection } from './tcp-connection.ts';
import type { TcpLimits } from './tcp-limits.ts';

/** Looks for connections that are overdue, within the shortest of the limits. */
const LOOKS_PER_LIMIT = 5;

export class TcpConnections {
  readonly #limits: TcpLimits;
  readonly #counters: Counters;
  readonly #byKey = new Map<string, TcpConnection>();
  readonly #perSite = new Map<string, number>();
  /** Not yet confirmed by a transceiver, the oldest first. */
  readonly #unanswered = new Set<TcpConnection>();
  readonly #looks: NodeJS.Timeout;

  constructor(limits: TcpLimits, counters: Counters) {
    this.#limits = limits;
    this.#counters = counters;
    const interval = Math.min(limits.frame, limits.answer, limits.idle) / LOOKS_PER_LIMIT;
    this.#looks = setInterval(() => this.#endOverdue(), interval).unref();
  }

  /** Why a connection cannot be taken, or undefined: then it is held until {@link end}. */
  admit(connection: TcpConnection): CloseReason | undefined {
    const { key, site } = connection;
    const ofSite = this.#perSite.get(site) ?? 0;
    if (ofSite >= this.#limits.maxPerSite) return 'too-many-of-one';
    if (this.#byKey.size >= this.#limits.maxConnections && !this.#makeRoom()) return 'too-many';
    // The same client by another address of ours, as a listener on all of them has it.
    const other = this.#byKey.get(key);
    if (other) this.end(other);
    this.#byKey.set(key, connection);
    this.#perSite.set(site, (this.#perSite.get(site) ?? 0) + 1);
    this.#unanswered.add(connection);
    this.#counters.tcpAccepted();
    return undefined;
  }

  /** @param address 16 bytes at `at`. */
  find(listener: number, address: Uint8Array, at: number, port: number): TcpConnection | undefined {
    return this.#byKey.get(connectionKey(listener, address, at, port));
  }

  /** To be told when {@link TcpConnection.isAnswered} becomes true. */
  answered(connection: TcpConnection): void {
    this.#unanswered.delete(connection);
  }

  /** Ends it, unless it has ended. @param reason Undefined when the relay had none. */
  end(connection: TcpConnection, reason?: CloseReason): void {
    const { key, site } = connection;
    if (this.#byKey.get(key) !== connection) return;
    this.#byKey.delete(key);
    this.#unanswered.delete(connection);
    const left = this.#perSite.get(site)! - 1;
    if (left === 0) this.#perSite.delete(site);
    else this.#perSite.set(site, left);
    this.#counters.tcpEnded(reason);
    connection.destroy();
  }

  close(): void {
    clearInterval(this.#looks);
    for (const connection of this.#byKey.values()) this.end(connection);
  }

  /** Those that nobody vouches for yield first: a flood of them must not keep others out. */
  #makeRoom(): boolean {
    for (const oldest of this.#unanswered) {
      this.end(oldest, 'too-many');
      return true;
    }
    return false;
  }

  #endOverdue(): void {
    for (const connection of this.#byKey.values()) {
      const reason = connection.overdue();
      if (reason) this.end(connection, reason);
    }
  }
}
