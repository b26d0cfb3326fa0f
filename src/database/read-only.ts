import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError, messageOf } from '../domain.ts';
import { BUSY_TIMEOUT_MS } from './database.ts';
import { checkOwnership, versionOf } from './migrate.ts';
import { newestVersion } from './schema.ts';
import { assertOneName, realPathOf } from './storage/file.ts';
import { assertOwnLog } from './storage/restoring.ts';

/** How a file is opened for reading, as parameters of its URL. */
export type Access =
  /** A program has it open with a log beside it; the index of that log is only read. */
  | 'readonly_shm=1'
  /**
   * Nothing has it open, and with a log SQLite would create files beside it: the file is read as
   * one that never changes.
   */
  | 'immutable=1'
  /** In the usual way: it is read without a log, or SQLite may create the index of its log. */
  | '';

/** A connection that only reads, and what it was opened with. */
export interface ReadOnly {
  connection: DatabaseSync;
  access: Access;
  /** The file as a URL with SQLite's parameters, for further connections like this one. */
  url: string;
}

export interface ReadOnlyOptions {
  /**
   * Whether all statements see the state that the first of them saw, until the connection is
   * closed.
   */
  isOneState?: boolean;
  /** Whether the schema may be an earlier one. */
  anyVersion?: boolean;
}

/**
 * Opens a file for reading, as `accessTo` chooses for its real path. Throws a `ServiceError`
 * (`storage_fault`) for a file that is unreadable or not a database of this program, an
 * `OlderSchema` for one of an earlier version unless `anyVersion`.
 */
export function openReadOnly(
  path: string,
  accessTo: (file: string) => Access,
  { isOneState = false, anyVersion = false }: ReadOnlyOptions = {},
): ReadOnly {
  let connection: DatabaseSync | undefined;
  try {
    assertOneName(path);
    assertOwnLog(path);
    const file = realPathOf(path);
    const access = accessTo(file);
    const url = `${pathToFileURL(file).href}${access === '' ? '' : `?${access}`}`;
    connection = new DatabaseSync(new URL(url), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (isOneState) connection.exec('BEGIN'); // the state of the first read is kept until the end of the transaction
    checkOwnership(connection, path);
    checkVersion(connection, path, anyVersion);
    return { connection, access, url };
  } catch (error) {
    connection?.close();
    if (error instanceof OlderSchema) throw error;
    const message =
      error instanceof ServiceError
        ? error.message
        : `Cannot read the database ${path}: ${messageOf(error)}`;
    throw new ServiceError('storage_fault', message, { cause: error });
  }
}

/** Thrown for a file with the schema of an earlier program. */
export class OlderSchema extends ServiceError {}

/** A reader migrates nothing, and the queries are written for the newest schema. */
function checkVersion(connection: DatabaseSync, path: string, anyVersion: boolean): void {
  const version = versionOf(connection);
  // Not an older one: it may be what is left of a download.
  if (version === 0) throw new ServiceError('storage_fault', `Cannot read ${path}: it is empty`);
  if (version === newestVersion || anyVersion) return;
  throw new OlderSchema(
    'storage_fault',
    `Cannot read ${path}: its schema is version ${version}, this program reads version ${newestVersion}; ` +
      'start the service on it once to migrate it',
  );
}
