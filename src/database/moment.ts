import { DatabaseSync, type StatementSync } from 'node:sqlite';
import assert from 'node:assert/strict';

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
  /** Whether the file is only shown, by a view: nothing is created beside it. */
  isView: boolean;
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

/** The database of a service as it is at the first statement, until it is closed. */
export function momentOfService(path: string): Database {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  connection.exec('BEGIN');
  return momentOf(path, prepareOnce(connection), () => connection.close());
}
