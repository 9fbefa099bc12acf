/** The calls of one tenant: in memory to be counted, and in storage to outlive it. */

/** A call that was let in. */
export interface CallRow {
  readonly call: string;
  /** Where it was to go, as far as is known. */
  readonly cluster: number;
  /** Milliseconds since the Unix epoch when it was let in. */
  readonly since: number;
}

export class CallRows {
  readonly #sql: SqlStorage;
  /** By name of the call. */
  readonly #rows = new Map<string, CallRow>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      'CREATE TABLE IF NOT EXISTS calls (call TEXT PRIMARY KEY, cluster INTEGER NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID',
    );
    const stored = sql.exec<{ call: string; cluster: number; since: number }>(
      'SELECT * FROM calls',
    );
    for (const row of stored) this.#rows.set(row.call, row);
  }

  get size(): number {
    return this.#rows.size;
  }

  get(call: string): CallRow | undefined {
    return this.#rows.get(call);
  }

  /** Those of one cluster. */
  of(cluster: number): CallRow[] {
    return [...this.#rows.values()].filter((row) => row.cluster === cluster);
  }

  /** Clusters that have any. */
  clusters(): Set<number> {
    return new Set([...this.#rows.values()].map(({ cluster }) => cluster));
  }

  set(row: CallRow): void {
    this.#rows.set(row.call, row);
    const { call, cluster, since } = row;
    this.#sql.exec('INSERT OR REPLACE INTO calls VALUES (?, ?, ?)', call, cluster, since);
  }

  delete(call: string): void {
    if (this.#rows.delete(call)) this.#sql.exec('DELETE FROM calls WHERE call = ?', call);
  }

  /** Lets go of those that were let in until that moment. */
  expire(until: number): void {
    for (const { call, since } of this.#rows.values()) {
      if (since <= until) this.delete(call);
    }
  }
}
