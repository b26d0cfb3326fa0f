import type { Database, Reader } from './database.ts';
import { integer, query, reads, real } from './rows.ts';

const ANY_JOB = query('SELECT 1 FROM jobs LIMIT 1', [integer]);

/**
 * Whether the database answers a query of one of its tables and, as far as is known, can be
 * written.
 */
export function isDatabaseHealthy(database: Database): boolean {
  try {
    ANY_JOB.has(database);
    return database.storageFault() === null;
  } catch {
    return false;
  }
}

const OTHERS_CHANGES = query('PRAGMA data_version', [integer]);
const OWN_CHANGES = query('SELECT total_changes()', [integer]);

/**
 * A text that changes whenever anything in the database does, through this connection or any other.
 */
export function contentVersion(database: Reader): string {
  return `${OTHERS_CHANGES.one(database)} ${OWN_CHANGES.one(database)} ${database.opened?.() ?? 0}`;
}

/**
 * The yearly risk-free rate of a file's figures, as a fraction: that of its last service, of a
 * package its author's; or null.
 */
export const readRiskFreeRate = reads('value', 'SELECT risk_free_rate FROM figure_settings', [
  real,
]);

/**
 * Stores with the database, within the caller's transaction, what the figures of its service depend
 * on.
 */
export function storeRiskFreeRate(database: Pick<Reader, 'statement'>, rate: number): void {
  database
    .statement('INSERT OR REPLACE INTO figure_settings (only_row, risk_free_rate) VALUES (1, ?)')
    .run(rate);
}
