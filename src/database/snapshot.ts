import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { existsSync, statSync } from 'node:fs';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { BUSY_TIMEOUT_MS, prepareOnce, type Reader } from './database.ts';
import { checkOwnership, isEmpty } from './schema/schema.ts';
import { assertUsable, realPathOf } from './storage/files.ts';

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

/**
 * Opens a file for reading, as `accessTo` chooses for its real path. Throws a `ServiceError`
 * (`storage_fault`) for a file that is unreadable, empty or not a database of this version. With
 * `isOneState`, all statements see the state that the first of them saw.
 */
export function openReadOnly(
  path: string,
  accessTo: (file: string) => Access,
  { isOneState = false } = {},
): ReadOnly {
  let connection: DatabaseSync | undefined;
  try {
    assertUsable(path);
    const file = realPathOf(path);
    const access = accessTo(file);
    const url = `${pathToFileURL(file).href}${access === '' ? '' : `?${access}`}`;
    connection = new DatabaseSync(new URL(url), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (isOneState) connection.exec('BEGIN'); // the state of the first read is kept until the end of the transaction
    checkOwnership(connection, path);
    if (isEmpty(connection))
      throw new ServiceError('storage_fault', `Cannot read ${path}: it is empty`);
    return { connection, access, url };
  } catch (error) {
    connection?.close();
    const message =
      error instanceof ServiceError
        ? error.message
        : `Cannot read the database ${path}: ${messageOf(error)}`;
    throw new ServiceError('storage_fault', message, { cause: error });
  }
}

/** A database as it was at one moment, whatever is written meanwhile; it can only be read. */
export interface Snapshot extends Reader {
  /** The file as a URL with SQLite's parameters, for further connections like this one. */
  readonly url: string;
}

/**
 * Works on a snapshot of a database while others may write. Leaves no trace, not even the empty
 * side files that SQLite creates for a reader and that would belong to this user instead of the
 * server's. So a file that no program has open is read as immutable, and read again in the usual
 * way if one opened it meanwhile; the index of a log is only read. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable or not a database of this version.
 */
export async function withSnapshot<Result>(
  path: string,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  const open = (isUnused: boolean) => openSnapshot(path, { isUnused });
  if (!existsSync(path)) throw new ServiceError('storage_fault', `There is no database ${path}`);
  const before = stateWhenUnused(path);
  if (before === null) return using(open(false), work);
  try {
    const result = await using(open(true), work);
    if (stateWhenUnused(path) === before) return result;
  } catch (error) {
    if (stateWhenUnused(path) === before) throw error;
  }
  return using(open(false), work);
}

/**
 * Distinguishes one state of the file from the next; null while a connection to it is open, which a
 * `-wal` file shows.
 */
function stateWhenUnused(path: string): string | null {
  const file = realPathOf(path);
  if (existsSync(`${file}-wal`)) return null;
  const { ino, size, mtimeNs } = statSync(file, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

async function using<Result>(
  snapshot: Snapshot,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work(snapshot);
  } finally {
    snapshot.close();
  }
}

function openSnapshot(path: string, { isUnused }: { isUnused: boolean }): Snapshot {
  const accessTo = (file: string): Access =>
    isUnused ? 'immutable=1' : existsSync(`${file}-shm`) ? 'readonly_shm=1' : '';
  const { connection, url } = openReadOnly(path, accessTo, { isOneState: true });
  return {
    path,
    url,
    statement: prepareOnce(connection),
    close: () => connection.close(),
  };
}
