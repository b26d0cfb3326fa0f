import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { ServiceError, messageOf } from '../domain.ts';
import { migrations } from './schema.ts';

/**
 * How long a write waits for another process's write lock. The wait blocks the event loop, so importers write in
 * chunks of milliseconds and this bound is for the unforeseen.
 */
const BUSY_TIMEOUT_MS = 5_000;
/** Pages that SQLite keeps in memory. */
const DEFAULT_CACHE_MB = 8;
const PAGES_PER_MB = 256;
/** Marks the file as this service's own (`PRAGMA application_id`): "TSS1". */
const APPLICATION_ID = 0x54535331;

/** The parent's one connection. All SQL lies in this folder; other folders call its functions. */
export interface Database {
  readonly path: string;
  /** Prepares once, then hands out the same statement for the same text. */
  statement(sql: string): StatementSync;
  /** Runs the work in one `BEGIN IMMEDIATE` transaction: all of it is kept, or nothing when it throws. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/**
 * What a commit survives. `power-loss`: everything, for results that cost money. `process-end`: the end of this process
 * however it comes, but the last commits may be gone after a power cut; several times faster, for DEV.
 */
export type Durability = 'power-loss' | 'process-end';

/**
 * Opens a database, creates the folder, the file and the schema where they are missing and migrates an older schema;
 * doing so twice changes nothing. Throws a `ServiceError` (`cannot_start`) for a file that cannot be opened, is not
 * this service's, or comes from a newer version; such a file is left untouched.
 */
export function openDatabase(
  path: string,
  { durability = 'power-loss', cacheMb = DEFAULT_CACHE_MB }: { durability?: Durability; cacheMb?: number } = {},
): Database {
  let connection: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    checkOwnership(connection, path);
    const synchronous = durability === 'power-loss' ? 'FULL' : 'NORMAL';
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`);
    connection.exec(`PRAGMA cache_size = ${-1024 * cacheMb}; PRAGMA wal_autocheckpoint = ${PAGES_PER_MB * cacheMb}`);
    migrate(connection);
  } catch (error) {
    connection?.close();
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('cannot_start', `Cannot open the database ${path}: ${messageOf(error)}`, { cause: error });
  }
  return wrap(connection, path);
}

/** Whether the database answers a query of one of its tables. */
export function isDatabaseHealthy(database: Database): boolean {
  try {
    database.statement('SELECT 1 FROM jobs LIMIT 1').get();
    return true;
  } catch {
    return false;
  }
}

/**
 * A text that is the same only while nothing in the database has changed, through this connection or another program's:
 * SQLite's `data_version` sees the others, `total_changes()` ourselves.
 */
export function contentVersion(database: Database): string {
  const others = database.statement('PRAGMA data_version').get()?.['data_version'];
  return `${others} ${database.statement('SELECT total_changes() AS own').get()?.['own']}`;
}

/** Removes a database with its side files. Only DEV's is ever removed, before anything opens it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function wrap(connection: DatabaseSync, path: string): Database {
  const statements = new Map<string, StatementSync>();
  return {
    path,
    statement(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) statements.set(sql, (statement = connection.prepare(sql)));
      return statement;
    },
    transaction(work) {
      return inTransaction(connection, work);
    },
    close() {
      statements.clear();
      connection.close();
    },
  };
}

function inTransaction<Result>(connection: DatabaseSync, work: () => Result): Result {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function migrate(connection: DatabaseSync): void {
  if (versionOf(connection) === migrations.length) return;
  inTransaction(connection, () => {
    for (const migration of migrations.slice(versionOf(connection))) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${APPLICATION_ID}`);
  });
}

function checkOwnership(connection: DatabaseSync, path: string): void {
  const version = versionOf(connection);
  const isEmpty = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0;
  const isOurs = connection.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID;
  if (!isOurs && !isEmpty) {
    throw new ServiceError('cannot_start', `Cannot use ${path}: it is a database of another program`);
  }
  if (version > migrations.length) {
    throw new ServiceError(
      'cannot_start',
      `Cannot use ${path}: its schema is version ${version}, this program knows versions up to ${migrations.length}; use a newer program`,
    );
  }
}

function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}
