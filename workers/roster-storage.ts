/** What a roster keeps over an eviction or a deployment, when its memory and its sockets are gone. */
import * as v from 'valibot';
import { TransceiverReportSchema, type TransceiverReport } from '../protocol/roster.ts';
import { TOKEN_REMEMBERED } from '../protocol/signature.ts';

/** Milliseconds between two saves of one transceiver: each costs a write. */
export const SAVE_EVERY = 60_000;

/** Milliseconds for which a saved transceiver is believed to have been there to the end. */
const BELIEVED = 2 * SAVE_EVERY;

export class RosterStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec('CREATE TABLE IF NOT EXISTS tokens (jti TEXT PRIMARY KEY, until INTEGER NOT NULL)');
    sql.exec(
      'CREATE TABLE IF NOT EXISTS members (id INTEGER PRIMARY KEY, report TEXT NOT NULL, saved INTEGER NOT NULL)',
    );
  }

  /** Uses a token up; false when it was used before. @param now Milliseconds since the Unix epoch. */
  spend(jti: string, now: number): boolean {
    this.#sql.exec('DELETE FROM tokens WHERE until <= ?', now);
    const until = now + TOKEN_REMEMBERED * 1000;
    const { rowsWritten } = this.#sql.exec(
      'INSERT INTO tokens VALUES (?, ?) ON CONFLICT DO NOTHING',
      jti,
      until,
    );
    return rowsWritten > 0;
  }

  save(report: TransceiverReport, now: number): void {
    const text = JSON.stringify(report);
    this.#sql.exec(
      'INSERT OR REPLACE INTO members VALUES (?, ?, ?)',
      report.transceiver,
      text,
      now,
    );
  }

  forget(transceiver: number): void {
    this.#sql.exec('DELETE FROM members WHERE id = ?', transceiver);
  }

  /** Last reports of the transceivers that were there lately. */
  members(now: number): TransceiverReport[] {
    this.#sql.exec('DELETE FROM members WHERE saved <= ?', now - BELIEVED);
    const rows = this.#sql.exec<{ report: string }>('SELECT report FROM members').toArray();
    return rows.map(({ report }) => v.parse(TransceiverReportSchema, JSON.parse(report)));
  }
}
