import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError, messageOf } from '../domain.ts';
import { BUSY_TIMEOUT_MS, type Database, type Reader, prepareOnce } from './database.ts';
import { checkOwnership } from './migrate.ts';
import { searchTables } from './search-tables.ts';
import { OlderSchema, checkVersion } from './snapshot.ts';
import { assertOneName, realPathOf } from './storage/file.ts';

/** A connection that nothing uses for this long is closed: SQLite removes a log only when its last connection is closed. */
const IDLE_MS = 2_000;

/** Where SQLite keeps how a file is read (https://sqlite.org/fileformat2.html#file_format_version_numbers), and the log's number. */
const READ_VERSION_AT = 19;
const READ_BY_LOG = 2;

/** How a file is read without changing a byte of it or beside it. */
type Access =
  /** A program has it open with a log beside it; the index of that log is only read. */
  | 'readonly_shm=1'
  /** Nothing has it open, and with a log SQLite would create files beside it: the file is read as one that never changes. */
  | 'immutable=1'
  /** It is read without a log. */
  | '';

/**
 * A database that is shown and never changed: neither the file nor what lies beside it, whether or not a service runs on it. What
 * such a service commits appears. Only the index of words is written, in a temporary table of this connection. Throws a
 * `ServiceError` (`storage_fault`) for a file that is missing, unreadable, or not a database of this version (an `OlderSchema` for
 * one of an earlier program); statements throw it when the file is lost later.
 */
export function openView(path: string, { idleMs = IDLE_MS }: { idleMs?: number } = {}): Database {
  const file = realPathOf(path);
  let open = openAs(path, file);
  let isUsed = true;
  let reopened = 0;
  const current = (): Connection => {
    isUsed = true;
    if (open.key === stateOf(path, file) && open.connection.isOpen) return open;
    const next = openAs(path, file);
    open.close();
    open = next;
    reopened += 1;
    return open;
  };
  const closeWhenIdle = () => {
    if (!isUsed && open.access === 'readonly_shm=1') open.close();
    isUsed = false;
  };
  const timer = setInterval(closeWhenIdle, idleMs).unref();
  return {
    path,
    statement: (sql, rows) => current().statement(sql, rows),
    reopened: () => reopened,
    write: async (work, { signal } = {}) => {
      signal?.throwIfAborted();
      return writeTemporarily(current().connection, work);
    },
    probe: () => null,
    storageFault: () => null,
    close() {
      clearInterval(timer);
      open.close();
    },
  };
}

interface Connection {
  connection: DatabaseSync;
  statement: Reader['statement'];
  access: Access;
  /** Of the file when it was opened. */
  key: string;
  close(): void;
}

/** Opens it as its present state allows. */
function openAs(path: string, file: string): Connection {
  let connection: DatabaseSync | undefined;
  try {
    assertOneName(path);
    const key = stateOf(path, file);
    const access = accessTo(file);
    const opened = (connection = new DatabaseSync(urlOf(file, access), { readOnly: true, timeout: BUSY_TIMEOUT_MS }));
    checkOwnership(opened, path);
    checkVersion(opened, path);
    const close = () => void (opened.isOpen && opened.close());
    return { connection: opened, statement: prepareOnce(opened), access, key, close };
  } catch (error) {
    connection?.close();
    if (error instanceof OlderSchema) throw error;
    const message = error instanceof ServiceError ? error.message : `Cannot read the database ${path}: ${messageOf(error)}`;
    throw new ServiceError('storage_fault', message, { cause: error });
  }
}

/** Differs from state to state, and stays the same while a program has the file open with a log, which SQLite follows itself. */
function stateOf(path: string, file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) throw new ServiceError('storage_fault', `There is no database ${path}`);
  const { ino, size, mtimeNs } = found;
  return hasLog(file) ? `${ino} with a log` : `${ino} ${size} ${mtimeNs}`;
}

/** The index of a log is made after the log; until then the file is what it was. */
function hasLog(file: string): boolean {
  return existsSync(`${file}-shm`) && existsSync(`${file}-wal`);
}

function accessTo(file: string): Access {
  if (hasLog(file)) return 'readonly_shm=1';
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new Error('its log (-wal) lies beside it without the index (-shm); start the service on it once, or copy it with backup');
  return isReadByLog(file) ? 'immutable=1' : '';
}

function isReadByLog(file: string): boolean {
  const byte = Buffer.alloc(1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, byte, 0, 1, READ_VERSION_AT);
  } finally {
    closeSync(descriptor);
  }
  return byte[0] === READ_BY_LOG;
}

function urlOf(file: string, access: Access): URL {
  return new URL(`${pathToFileURL(file).href}${access === '' ? '' : `?${access}`}`);
}

/** The tables of the search, for this connection only: they hide those of the file, and SQLite keeps them elsewhere. */
const TEMPORARY_TABLES = searchTables.replaceAll(/TABLE (?=log_words)/g, 'TABLE IF NOT EXISTS temp.');

/** Runs work that writes to the tables of the search. */
function writeTemporarily<Result>(connection: DatabaseSync, work: () => Result): Result {
  connection.exec(TEMPORARY_TABLES);
  connection.exec('BEGIN');
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
  }
}
