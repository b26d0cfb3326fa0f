import type { Database, Reader } from './database.ts';
import { integer, query } from './rows.ts';

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
 * Of a moment: that of its database now, which is not newer than what a moment shows that has read
 * nothing yet.
 */
export function contentVersion(reader: Reader): string {
  const database = reader.source ?? reader;
  return `${OTHERS_CHANGES.one(database)} ${OWN_CHANGES.one(database)} ${database.reopened?.() ?? 0}`;
}
