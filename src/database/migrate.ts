import type { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../domain.ts';
import { newestVersion, sqlFrom } from './schema.ts';

/** Marks the file as this service's own (`PRAGMA application_id`): "TSS1". */
export const APPLICATION_ID = 0x54535331;

/**
 * Brings a database to the newest version in one transaction: a new one directly, an older one step
 * by step.
 */
export function migrate(connection: DatabaseSync): void {
  if (versionOf(connection) === newestVersion) return;
  // Some migrations edit the schema's text, which Node's connections forbid unless asked.
  connection.enableDefensive(false);
  connection.exec('BEGIN IMMEDIATE');
  try {
    // Chosen within the transaction: another process may have applied them while this one waited
    // for the lock.
    for (const sql of sqlFrom(isEmpty(connection) ? 'new' : versionOf(connection)))
      connection.exec(sql);
    connection.exec(
      `PRAGMA user_version = ${newestVersion}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
    );
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    connection.enableDefensive(true);
  }
}

/**
 * Throws a `ServiceError` (`cannot_start`) for another program's database and for a newer schema.
 */
export function checkOwnership(connection: DatabaseSync, path: string): void {
  if (isForeign(connection)) {
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: it is a database of another program`,
    );
  }
  const version = versionOf(connection);
  if (version > newestVersion) {
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: its schema is version ${version}, this program knows versions up to ${newestVersion}; use a newer program`,
    );
  }
}

/** Whether a database has content of another program. */
export function isForeign(connection: DatabaseSync): boolean {
  return (
    !isEmpty(connection) &&
    connection.prepare('PRAGMA application_id').get()?.['application_id'] !== APPLICATION_ID
  );
}

function isEmpty(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0;
}

/** The schema version of a database. */
export function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}
