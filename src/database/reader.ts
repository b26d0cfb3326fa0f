import type { DatabaseSync, StatementSync } from 'node:sqlite';

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
