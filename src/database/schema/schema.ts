import type { DatabaseSync } from 'node:sqlite';
import { tables } from './tables.ts';
import { ServiceError } from '../../basics/domain.ts';

/**
 * The schema's history since the first release: each migration brings a database one version
 * (`user_version`) further, in SQL that takes nothing from this program, so that no later change of
 * the program alters what an old database becomes. A released migration is never edited; every
 * change is a new one, including a new word in a list of domain.ts.
 */
export const migrations: string[] = [];

/** The version that a new database has. */
export function newestVersion(): number {
  return 1 + migrations.length;
}

/**
 * What makes a database of the newest version: all tables for a new one, or the migrations from its
 * own version on.
 */
export function sqlFrom(version: number | 'new'): readonly string[] {
  return version === 'new' ? [tables] : migrations.slice(version - 1);
}

/** Marks the file as this service's own (`PRAGMA application_id`): "TSSv". */
export const APPLICATION_ID = 0x54535376;
/**
 * The mark of files from before the first release, and the last commit whose program reads them.
 */
const UNRELEASED = { id: 0x54535331, commit: 'f2cc0fd' };

/**
 * Brings a database to the newest version in one transaction: a new one directly, an older one step
 * by step.
 */
export function migrate(connection: DatabaseSync): void {
  if (versionOf(connection) === newestVersion()) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    // Chosen within the transaction: another process may have applied them while this one waited
    // for the lock.
    for (const sql of sqlFrom(isEmpty(connection) ? 'new' : versionOf(connection)))
      connection.exec(sql);
    connection.exec(
      `PRAGMA user_version = ${newestVersion()}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
    );
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
  }
}

/**
 * Throws a `ServiceError` (`cannot_start`) for another program's database and for a newer schema.
 */
export function checkOwnership(connection: DatabaseSync, path: string): void {
  if (idOf(connection) === UNRELEASED.id) {
    const unreleased = 'its schema is from before the first release';
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: ${unreleased}; the program of commit ${UNRELEASED.commit} reads it`,
    );
  }
  if (isForeign(connection)) {
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: it is a database of another program`,
    );
  }
  const version = versionOf(connection);
  if (version > newestVersion()) {
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: its schema is version ${version}, this program knows versions up to ${newestVersion()}; use a newer program`,
    );
  }
}

/** Whether a database has content of another program. */
export function isForeign(connection: DatabaseSync): boolean {
  return !isEmpty(connection) && ![APPLICATION_ID, UNRELEASED.id].includes(idOf(connection));
}

function idOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA application_id').get()?.['application_id']);
}

function isEmpty(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0;
}

/** The schema version of a database. */
export function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}
