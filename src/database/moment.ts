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
  /** Of a moment: the database whose state it is. */
  readonly source?: Database;
  /**
   * Of a moment: from here on every statement sees what is committed by then, so that the response
   * may take as long as its client likes. Only for a response that reads from then on only what
   * never changes: sessions that it has chosen and that are committed.
   */
  settle?(): void;
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
   * What one response is made of: one state, which cannot be written. To be closed at the end of
   * the response.
   */
  moment(): Moment;
  /** Null for one that has no file in its place. */
  address(): Address | null;
}

/**
 * What one response is made of: the database as it was at the first statement, whatever is
 * committed meanwhile, on a connection that cannot write.
 */
export interface Moment extends Database {
  readonly source: Database;
  settle(): void;
  /** Whether that state is held now, so that SQLite cannot begin its log anew. */
  isHeld(): boolean;
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

/** A connection that only reads, within a read transaction when it is taken. */
export interface Reading {
  connection: DatabaseSync;
  statement: Reader['statement'];
}

/**
 * Where moments get their connections from. Null: the database has no file to open again, or that
 * file is not in its place.
 */
export interface Readings {
  take(): Reading | null;
  giveBack(reading: Reading): void;
}

/**
 * A moment that begins with its first statement. Without a connection of its own it reads from that
 * of the database.
 */
export function momentOf(source: Database, { take, giveBack }: Readings): Moment {
  let reading: Reading | null | undefined;
  let isSettled = false;
  let isOver = false;
  const settle = () => {
    isSettled = true;
    if (reading?.connection.isTransaction) reading.connection.exec('COMMIT');
  };
  return {
    path: source.path,
    source,
    ...(source.reopened && { reopened: source.reopened }),
    statement(sql, rows) {
      assert(!isOver, 'a response reads nothing after its end');
      if (reading === undefined) {
        reading = take();
        if (isSettled) settle();
      }
      return (reading ?? source).statement(sql, rows);
    },
    settle,
    isHeld: () => reading?.connection.isTransaction === true,
    close() {
      if (isOver) return;
      isOver = true;
      if (reading?.connection.isOpen) giveBack(reading);
    },
    write: () => assert.fail('a response writes nothing'),
    probe: source.probe,
    storageFault: source.storageFault,
    moment: source.moment,
    address: source.address,
  };
}

/**
 * Connections that are kept open for the next responses; a connection has its prepared statements
 * and its pages.
 */
const MOST_IDLE = 4;

/** The connections of a service's responses. */
export interface ReadingPool extends Readings {
  /** Leaves no connection open that no response is reading from. */
  closeIdle(): void;
  close(): void;
}

/** `mayOpen` tells whether the file at the path is still the one that the service has open. */
export function createReadingPool(path: string, mayOpen: () => boolean): ReadingPool {
  const open = new Set<DatabaseSync>();
  let idle: Reading[] = [];
  const drop = (connection: DatabaseSync) => {
    open.delete(connection);
    if (connection.isOpen) connection.close();
  };
  const openOne = (): Reading | null => {
    if (!mayOpen()) return null;
    const connection = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    open.add(connection);
    return { connection, statement: prepareOnce(connection) };
  };
  const closeIdle = () => {
    for (const { connection } of idle) drop(connection);
    idle = [];
  };
  return {
    take() {
      const reading = idle.pop() ?? openOne();
      if (reading === null) return null;
      try {
        // A transaction keeps the state that its first read saw.
        reading.connection.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1');
      } catch (error) {
        drop(reading.connection);
        throw error;
      }
      return reading;
    },
    giveBack(reading) {
      if (reading.connection.isTransaction) reading.connection.exec('ROLLBACK');
      if (idle.length < MOST_IDLE) idle.push(reading);
      else drop(reading.connection);
    },
    closeIdle,
    close() {
      closeIdle();
      for (const connection of open) drop(connection);
    },
  };
}
