import type { DatabaseSync } from 'node:sqlite';
import { tables } from './tables.ts';
import { ServiceError } from '#domain/service-error.ts';

/** The version of the schema (`user_version`): a file of any other is refused. */
export const SCHEMA_VERSION = 4;

/** Marks the file as this service's own (`PRAGMA application_id`): "TSSv". */
export const APPLICATION_ID = 0x54535376;
/**
 * The mark of files from before the first release, and the last commit whose program reads them.
 */
const UNRELEASED = { id: 0x54535331, commit: 'f2cc0fd' };

/** Makes the tables of a new database in one transaction; leaves one that has them as it is. */
export function createSchema(connection: DatabaseSync): void {
  if (schemaVersion(connection) === SCHEMA_VERSION) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have made them while this one waited for the lock.
    if (isEmpty(connection)) connection.exec(tables);
    connection.exec(
      `PRAGMA user_version = ${SCHEMA_VERSION}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
    );
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
  }
}

/**
 * Throws a `ServiceError` (`cannot_start`) for another program's database and for another version
 * of the schema.
 */
export function checkOwnership(connection: DatabaseSync, path: string): void {
  const cannotUse = (why: string) => new ServiceError('cannot_start', `Cannot use ${path}: ${why}`);
  if (applicationId(connection) === UNRELEASED.id)
    throw cannotUse(
      `its schema is from before the first release; the program of commit ${UNRELEASED.commit} reads it`,
    );
  if (isForeign(connection))
    throw cannotUse(
      `it is a database of ${isFamilyDatabase(connection) ? FAMILY : 'another program'}`,
    );
  const version = schemaVersion(connection);
  if (version === SCHEMA_VERSION || isEmpty(connection)) return;
  throw cannotUse(
    `its schema is version ${version}, this program ` +
      (version > SCHEMA_VERSION
        ? `knows versions up to ${SCHEMA_VERSION}; use a newer program`
        : `reads version ${SCHEMA_VERSION}; use the program that made it`),
  );
}

/** Whether a database has content of another program. */
export function isForeign(connection: DatabaseSync): boolean {
  return (
    !isEmpty(connection) && ![APPLICATION_ID, UNRELEASED.id].includes(applicationId(connection))
  );
}

const FAMILY =
  'AI-Trader-Server, which this program does not read; move it away with its -wal and -shm, ' +
  'and the next start makes a new one';

/** Whether a foreign database has the tables of AI-Trader-Server, which has the same path. */
function isFamilyDatabase(connection: DatabaseSync): boolean {
  return connection.prepare('PRAGMA table_info(job_details)').get() !== undefined;
}

function applicationId(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA application_id').get()?.['application_id']);
}

/** Whether a database has no content yet; it may be what is left of a download. */
export function isEmpty(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0;
}

function schemaVersion(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}
