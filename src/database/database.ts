import { existsSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, messageOf } from '../domain.ts';
import { isLockHeld, lockIsHeld, storageFaultOf } from './storage/faults.ts';
import { assertOneName, realPathOf } from './storage/file.ts';
import { makeFolder } from './storage/folder.ts';
import { type OnRepair, noGuard, watchFiles } from './storage/guard.ts';
import { checkOwnership, isForeign, migrate } from './migrate.ts';
import { migrations } from './schema.ts';

/**
 * How long a write waits for another process's write lock. Importers write in chunks of milliseconds, so this bound is for
 * the unforeseen.
 */
export const BUSY_TIMEOUT_MS = 5_000;
/** The longest pause between two tries to get the write lock. */
const MAX_PAUSE_MS = 50;
/** Pages that SQLite keeps in memory. */
const DEFAULT_CACHE_MB = 8;
const PAGES_PER_MB = 256;
/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

/** What can be read from. All SQL lies in this folder; other folders call its functions. */
export interface Reader {
  readonly path: string;
  /** The same prepared statement each time for the same text and kind of rows. For reading, see `query` of rows.ts. */
  statement(sql: string, rows?: 'objects' | 'arrays'): StatementSync;
  close(): void;
}

/** A connection that reads and writes: the parent's one, or a command's. */
export interface Database extends Reader {
  /**
   * Runs the work in one `BEGIN IMMEDIATE` transaction: all of it is kept, or nothing when it throws. While another program
   * holds the write lock, it tries again for up to `BUSY_TIMEOUT_MS` without blocking the event loop; so the work itself must
   * check what may have changed. Rejects with a `ServiceError` (`storage_fault`) when the lock stayed taken, or when the
   * files at the path are no longer those that were opened; with the signal's reason once that is aborted.
   */
  write<Result>(work: () => Result, options?: { signal?: AbortSignal | undefined }): Promise<Result>;
  /** Tries to write, without waiting for locks. Returns why it cannot be written, in words, or null. */
  probe(): string | null;
  /** As `probe`, but tries only when the storage made the last transaction fail. */
  storageFault(): string | null;
}

/** The connection of a command, which serves no requests and so may block while it waits for the write lock. */
export interface CommandDatabase extends Database {
  /** As `write`, at once and without a promise. */
  transaction<Result>(work: () => Result): Result;
}

/**
 * What a commit survives. `power-loss`: everything, for results that cost money. `process-end`: the end of this process
 * however it comes, but the last commits may be gone after a power cut; several times faster, for DEV.
 */
export type Durability = 'power-loss' | 'process-end';

/**
 * Opens a database, creates the folder, the file and the schema where they are missing and migrates an older schema;
 * doing so twice changes nothing. Throws a `ServiceError` (`cannot_start`) for a file that cannot be opened, is not
 * this service's, or comes from a newer version; such a file is left untouched. With `isServing` the connection never
 * blocks the event loop to wait for a lock once it is open.
 */
export function openDatabase(
  path: string,
  {
    durability = 'power-loss',
    cacheMb = DEFAULT_CACHE_MB,
    isServing = false,
    onRepair = () => {},
  }: { durability?: Durability; cacheMb?: number; isServing?: boolean; onRepair?: OnRepair } = {},
): CommandDatabase {
  let connection: DatabaseSync | undefined;
  try {
    if (path !== IN_MEMORY) {
      makeFolder(dirname(realPathOf(path)));
      assertOneName(path);
    }
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    checkOwnership(connection, path);
    const synchronous = durability === 'power-loss' ? 'FULL' : 'NORMAL';
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`);
    connection.exec(`PRAGMA cache_size = ${-1024 * cacheMb}; PRAGMA wal_autocheckpoint = ${PAGES_PER_MB * cacheMb}`);
    migrate(connection);
    // From here on nothing of a service blocks its event loop; reading waits for no lock in WAL mode.
    if (isServing) connection.exec('PRAGMA busy_timeout = 0');
  } catch (error) {
    connection?.close();
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('cannot_start', `Cannot open the database ${path}: ${messageOf(error)}`, { cause: error });
  }
  return wrap(connection, path, { busyTimeoutMs: isServing ? 0 : BUSY_TIMEOUT_MS, onRepair });
}

/**
 * Removes a database with its side files, where its name leads. Only DEV's is ever removed, before anything opens it; a file
 * that is not this service's, or that bears another name than the link to it, stays, with a `ServiceError`
 * (`cannot_start`).
 */
export function removeDatabase(path: string): void {
  const file = realPathOf(path);
  if (existsSync(file)) assertOurs(path, file);
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

function assertOurs(path: string, file: string): void {
  let connection: DatabaseSync | undefined;
  try {
    if (basename(file) !== basename(path)) throw new Error(`it is a link to ${file}, which may be another database`);
    assertOneName(path);
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    if (isForeign(connection)) throw new Error('it is a database of another program');
  } catch (error) {
    const message = `Cannot reset ${path}: ${messageOf(error)}; move it away if it is no longer needed`;
    throw new ServiceError('cannot_start', message, { cause: error });
  } finally {
    connection?.close();
  }
}

/** `Reader.statement` of a connection. */
export function prepareOnce(connection: DatabaseSync): Reader['statement'] {
  const prepared = { objects: new Map<string, StatementSync>(), arrays: new Map<string, StatementSync>() };
  return (sql, rows = 'objects') => {
    const found = prepared[rows].get(sql);
    if (found !== undefined) return found;
    const statement = connection.prepare(sql);
    statement.setReturnArrays(rows === 'arrays');
    prepared[rows].set(sql, statement);
    return statement;
  };
}

function wrap(
  connection: DatabaseSync,
  path: string,
  { busyTimeoutMs, onRepair }: { busyTimeoutMs: number; onRepair: OnRepair },
): CommandDatabase {
  const guard = path === IN_MEMORY ? noGuard : watchFiles(path, connection, onRepair);
  let fault: string | null = null;
  const noting = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      fault = storageFaultOf(error) ?? fault;
      throw error;
    }
  };
  /** Null while another program holds the write lock. */
  const tryTransaction = <Result>(work: () => Result): { result: Result } | null =>
    noting(() => {
      guard.check();
      if (!begin(connection)) return null;
      const result = finish(connection, work);
      fault = null;
      return { result };
    });
  const transaction = <Result>(work: () => Result): Result =>
    noting(() => (tryTransaction(work) ?? lockIsHeld()).result);
  const write = async <Result>(work: () => Result, { signal }: { signal?: AbortSignal | undefined } = {}) => {
    const startedAt = performance.now();
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      signal?.throwIfAborted();
      const done = tryTransaction(work);
      if (done !== null) return done.result;
      if (performance.now() - startedAt > BUSY_TIMEOUT_MS) return noting(lockIsHeld);
      await sleep(pauseMs);
    }
  };
  const probe = (): string | null => {
    connection.exec('PRAGMA busy_timeout = 0');
    try {
      // Writes what is there already: a page goes to the disk, and nothing changes.
      transaction(() => connection.exec(`PRAGMA user_version = ${migrations.length}`));
      return null;
    } catch (error) {
      return storageFaultOf(error) ?? messageOf(error);
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  };
  return {
    path,
    statement: prepareOnce(connection),
    transaction,
    write,
    probe,
    storageFault: () => (fault === null && guard.isWhole() ? null : probe()),
    close: () => connection.close(),
  };
}

/** Takes the write lock; false when another program still holds it after the connection's own busy timeout. */
function begin(connection: DatabaseSync): boolean {
  try {
    connection.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isLockHeld(error)) return false;
    throw error;
  }
}

/** Ends the transaction that has begun. */
function finish<Result>(connection: DatabaseSync, work: () => Result): Result {
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
