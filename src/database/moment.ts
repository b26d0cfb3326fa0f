import { DatabaseSync, type StatementSync } from 'node:sqlite';
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { checkOwnership } from './schema/schema.ts';
import { realPathOf } from './storage/files.ts';

/** A connection to read from. All SQL is in this folder; other folders call its functions. */
export interface Reader {
  readonly path: string;
  /**
   * Returns the same prepared statement every time for the same text and row type. To read rows,
   * see `query` in rows.ts.
   */
  statement(sql: string, rows?: 'objects' | 'arrays'): StatementSync;
  /** Of a view: how often it has opened its file again, because that changed. */
  reopened?(): number;
  close(): void;
}

/** Where another thread finds a database; only data. */
export interface Address {
  path: string;
  /**
   * Of a file that is only shown, by a view: what its own process read of it. Null for the database
   * of a service.
   */
  shown: Inspected | null;
}

/**
 * What was read of a file before this process had a connection to it. From then on only SQLite may
 * open it there: when a process closes any other descriptor of a file, it loses all its locks on
 * that file, SQLite's too (https://sqlite.org/howtocorrupt.html, 2.2).
 */
export interface Inspected {
  ino: string;
  /** The file's state at that time, if it was written without a log; otherwise null. */
  withoutLog: string | null;
}

/** A database that is read as it is at one moment. */
export interface Snapshot extends Reader {
  /** The file as a URL with SQLite's parameters, for further connections like this one. */
  url: string;
  /** Throws when the file is read as one that never changes, and has changed. */
  assertSame(): void;
}

/** A connection that reads and writes: the service's, or a command's. */
export interface Database extends Reader {
  /**
   * Runs the work in one `BEGIN IMMEDIATE` transaction, which is rolled back if it throws. While
   * another program holds the write lock, it retries for up to `BUSY_TIMEOUT_MS` without blocking
   * the event loop; state may change meanwhile, so the work itself must check what it relies on.
   * Rejects with a `ServiceError` (`storage_fault`) when the lock stays taken, or when the files at
   * the path are no longer those that were opened; with the signal's reason once that is aborted.
   */
  write<Result>(
    work: () => Result,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Result>;
  /**
   * Tries to write and, if the disk was full, checks that it has room again; a connection opened
   * with `isServing` does not wait for locks. Returns why it cannot write, in words, or null.
   */
  probe(): string | null;
  /** As `probe`, but only tries after a transaction that the storage made fail. */
  storageFault(): string | null;
  /**
   * Runs the work, which makes a response, on one state of the database: that of its first
   * statement, whatever other programs commit meanwhile. SQLite refuses what it would write.
   */
  read<Result>(work: (moment: Database) => Result): Result;
  /** Null for one that has no file in its place. */
  address(): Address | null;
}

/** `Reader.statement` of a connection. */
export function prepareOnce(connection: DatabaseSync): Reader['statement'] {
  const prepared = {
    objects: new Map<string, StatementSync>(),
    arrays: new Map<string, StatementSync>(),
  };
  return (sql, rows = 'objects') => {
    const found = prepared[rows].get(sql);
    if (found !== undefined) return found;
    const statement = connection.prepare(sql);
    statement.setReturnArrays(rows === 'arrays');
    prepared[rows].set(sql, statement);
    return statement;
  };
}

/**
 * The database as it is at the first statement, through a connection that reads it within a
 * transaction.
 */
export function momentOf(
  path: string,
  statement: Reader['statement'],
  close: () => void,
): Database {
  const nothing = () => assert.fail('a response only reads');
  return {
    path,
    statement,
    close,
    write: nothing,
    probe: nothing,
    storageFault: nothing,
    read: nothing,
    address: nothing,
  };
}

/** The error for a database that cannot be read. */
export function unreadable(path: string, error: unknown): ServiceError {
  const message =
    error instanceof ServiceError
      ? error.message
      : `Cannot read the database ${path}: ${messageOf(error)}`;
  return new ServiceError('storage_fault', message, { cause: error });
}

/** The database of a service as it is at the first statement, until it is closed. */
export function openServed(path: string): Snapshot {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    connection.exec('BEGIN');
    checkOwnership(connection, path);
  } catch (error) {
    connection.close();
    throw unreadable(path, error);
  }
  return {
    path,
    url: pathToFileURL(realPathOf(path)).href,
    statement: prepareOnce(connection),
    assertSame() {},
    close: () => connection.close(),
  };
}
