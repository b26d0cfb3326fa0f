import { existsSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { cannot, errorMessage, ServiceError } from '#domain/service-error.ts';
import {
  throwDiskFull,
  hasRoom,
  isLockHeld,
  throwLockHeld,
  storageFault,
  findStorageFault,
  describeDamage,
  storageMessage,
} from '#database/storage/faults.ts';
import {
  assertUsable,
  makeFolder,
  realPath,
  watchFiles,
  wasWrittenAfter,
} from '#database/storage/files.ts';
import {
  checkOwnership,
  createSchema,
  isForeign,
  SCHEMA_VERSION,
} from '#database/schema/schema.ts';

/**
 * How long a write waits for another process's write lock. Importers hold it for a tenth of a
 * second at a time, so the limit only matters when something has gone wrong.
 */
export const BUSY_TIMEOUT_MS = 5_000;
/** The longest pause between two attempts to get the write lock. */
export const MAX_PAUSE_MS = 10;
/** Pages that SQLite caches in memory. */
const DEFAULT_CACHE_MB = 8;
/**
 * A service moves its log into the database after so much of it. To move 8 MB at a time held up
 * other requests for 20 to 40 ms each time, and jobs were no faster.
 */
const SERVING_LOG_MB = 1;
const PAGES_PER_MB = 256;
/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

/** A connection to read from. All SQL is in this folder; other folders call its functions. */
export interface Reader {
  readonly path: string;
  /**
   * Returns the same prepared statement every time for the same text and row type. To read rows,
   * see `query` in rows.ts.
   */
  statement(sql: string, rows?: 'objects' | 'arrays'): StatementSync;
  /** Of a view: how often it has opened its file, again because that changed. */
  opened?(): number;
  close(): void;
}

/** Where another thread finds a database; only data. */
export interface Address {
  path: string;
  /**
   * Of a file that a view shows: its number (inode) when that process inspected it, before its first
   * connection. From then on only SQLite may open the file there (`inspectFile`). Otherwise null.
   */
  shown: string | null;
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

/**
 * The connection of a command, which serves no requests and so may block while it waits for the
 * write lock.
 */
export interface CommandDatabase extends Database {
  /** As `write`, but synchronous. */
  transaction<Result>(work: () => Result): Result;
}

/**
 * What a commit survives. `power-loss`: everything, for results that cost money. `process-end`: the
 * end of this process in any way, though a power cut may lose the last commits; several times
 * faster, for DEV.
 */
type Durability = 'power-loss' | 'process-end';

/**
 * Opens a database; creates folder, file and schema where missing. Opening it again changes
 * nothing. Throws a `ServiceError` (`cannot_start`) for a file that cannot be opened, is not this
 * service's, or has another version of the schema, and leaves the file untouched.
 * With `isServing`, the open connection never blocks the event loop to wait for a lock.
 */
export function openDatabase(
  path: string,
  {
    durability = 'power-loss',
    cacheMb = DEFAULT_CACHE_MB,
    isServing = false,
  }: { durability?: Durability; cacheMb?: number; isServing?: boolean } = {},
): CommandDatabase {
  let connection: DatabaseSync | undefined;
  try {
    if (path !== IN_MEMORY) {
      makeFolder(dirname(realPath(path)));
      assertUsable(path);
    }
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    checkOwnership(connection, path);
    const synchronous = durability === 'power-loss' ? 'FULL' : 'NORMAL';
    connection.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`,
    );
    const logMb = isServing ? SERVING_LOG_MB : cacheMb;
    connection.exec(
      `PRAGMA cache_size = ${-1024 * cacheMb}; PRAGMA wal_autocheckpoint = ${PAGES_PER_MB * logMb}`,
    );
    createSchema(connection);
    dropManifest(connection);
    // From here on a service never blocks its event loop: in WAL mode, reads wait for no lock.
    if (isServing) connection.exec('PRAGMA busy_timeout = 0');
  } catch (error) {
    connection?.close();
    const why = describeDamage(error) ?? storageMessage(error, path);
    throw cannot(`open the database ${path}`, error, why);
  }
  return createDatabase(connection, path);
}

/**
 * A package that is opened for writing changes from now on, and may become another job's database.
 */
function dropManifest(connection: DatabaseSync): void {
  const found = connection.prepare('SELECT 1 FROM package_manifest LIMIT 1').get();
  if (found !== undefined) connection.exec('DELETE FROM package_manifest');
}

/**
 * Removes a database and its side files, following symbolic links. Only DEV's database is ever
 * removed, before anything opens it. A file that is not this service's, or that has another name
 * than the link to it, is kept, and a `ServiceError` (`cannot_start`) is thrown.
 */
export function removeDatabase(path: string): void {
  const file = realPath(path);
  if (existsSync(file)) assertOwnDatabase(path, file);
  for (const part of ['', '-wal', '-shm'].map((suffix) => file + suffix))
    if (existsSync(part)) unlinkSync(part);
}

function assertOwnDatabase(path: string, file: string): void {
  let connection: DatabaseSync | undefined;
  try {
    if (basename(file) !== basename(path))
      throw new Error(`it is a link to ${file}, which may be another database`);
    assertUsable(path);
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    if (isForeign(connection)) throw new Error('it is a database of another program');
  } catch (error) {
    const message = `Cannot reset ${path}: ${describeDamage(error) ?? errorMessage(error)}; move it away if it is no longer needed`;
    throw new ServiceError('cannot_start', message, { cause: error });
  } finally {
    connection?.close();
  }
}

function createDatabase(connection: DatabaseSync, path: string): CommandDatabase {
  const findLostFile = path === IN_MEMORY ? () => null : watchFiles(path);
  const isFull = () => path !== IN_MEMORY && !hasRoom(path);
  let fault: string | null = null;
  let committedAtMs = Date.now();
  const recordFault = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      fault = findStorageFault(error) ?? fault;
      throw error;
    }
  };
  /** Null while another program holds the write lock. */
  const tryTransaction = <Result>(work: () => Result): { result: Result } | null =>
    recordFault(() => {
      const lost = findLostFile();
      if (lost !== null) throw storageFault(lost);
      if (!tryBegin(connection)) return null;
      const result = runAndCommit(connection, work);
      fault = null;
      committedAtMs = Date.now();
      return { result };
    });
  const transaction = <Result>(work: () => Result): Result =>
    recordFault(() => (tryTransaction(work) ?? throwLockHeld()).result);
  const write = async <Result>(
    work: () => Result,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ) => {
    const startedAt = performance.now();
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      signal?.throwIfAborted();
      const done = tryTransaction(work);
      if (done !== null) return done.result;
      if (performance.now() - startedAt > BUSY_TIMEOUT_MS) return recordFault(throwLockHeld);
      await sleep(pauseMs);
    }
  };
  const probe = (): string | null => {
    try {
      transaction(() => {
        if (isFull()) throwDiskFull();
        // Writes a value that is already there: a page goes to disk, but nothing changes.
        connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      });
      return null;
    } catch (error) {
      return findStorageFault(error) ?? errorMessage(error);
    }
  };
  const database: CommandDatabase = {
    path,
    statement: prepareOnce(connection),
    transaction,
    write,
    probe,
    storageFault: () => (fault === null && findLostFile() === null && !isFull() ? null : probe()),
    read: (work) => runReadOnly(connection, () => work(database)),
    address: () => (path !== IN_MEMORY && findLostFile() === null ? { path, shown: null } : null),
    close() {
      // Closing would write a log that was removed over what another program has written since.
      if (path === IN_MEMORY || findLostFile() === null || !wasWrittenAfter(path, committedAtMs))
        connection.close();
    },
  };
  return database;
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

/** In one transaction that sees one moment of the database, and cannot write. */
function runReadOnly<Result>(connection: DatabaseSync, work: () => Result): Result {
  connection.exec('BEGIN; PRAGMA query_only = ON');
  try {
    return work();
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    connection.exec('PRAGMA query_only = OFF');
  }
}

/**
 * Takes the write lock; false when another program still holds it after the connection's own busy
 * timeout.
 */
function tryBegin(connection: DatabaseSync): boolean {
  try {
    connection.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isLockHeld(error)) return false;
    throw error;
  }
}

/** Ends the current transaction. */
function runAndCommit<Result>(connection: DatabaseSync, work: () => Result): Result {
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
