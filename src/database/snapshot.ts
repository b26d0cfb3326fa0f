import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { BUSY_TIMEOUT_MS, openDatabase, prepareOnce, type Reader } from './database.ts';
import { checkOwnership, newestVersion, versionOf } from './schema/schema.ts';
import { assertOneName, inTemporaryFolder, realPathOf } from './storage/files.ts';
import { assertOwnLog } from './storage/restoring.ts';
import { bySlices } from '../basics/turns.ts';
import { checkManifest } from './manifest.ts';

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
  if (version === newestVersion() || anyVersion) return;
  throw new OlderSchema(
    'storage_fault',
    `Cannot read ${path}: its schema is version ${version}, this program reads version ${newestVersion()}; ` +
      'start the service on it once to migrate it',
  );
}

/** Pages copied before the event loop runs again: about 8 MB. */
const PAGES_PER_STEP = 2_000;

/** A database as it was at one moment, whatever is written meanwhile; it can only be read. */
export interface Snapshot extends Reader {
  /** The version of its schema. */
  readonly version: number;
  /** The file as a URL with SQLite's parameters, for further connections like this one. */
  readonly url: string;
  /**
   * Writes this state to another file, page by page; `onProgress` receives the fraction that is
   * done.
   */
  copyTo(target: string, onProgress: (share: number) => void): Promise<void>;
}

/**
 * Works on a snapshot of a database while others may write. Leaves no trace, not even the empty
 * side files that SQLite creates for a reader and that would belong to this user instead of the
 * server's. So a file that no program has open is read as immutable, and read again in the usual
 * way if one opened it meanwhile; the index of a log is only read. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable or not a database of this program, and
 * for one of an earlier version unless `anyVersion`.
 */
export async function withSnapshot<Result>(
  path: string,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
  { anyVersion = false }: { anyVersion?: boolean } = {},
): Promise<Result> {
  const open = (isUnused: boolean) => openSnapshot(path, { isUnused, anyVersion });
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

function openSnapshot(
  path: string,
  { isUnused, anyVersion }: { isUnused: boolean; anyVersion: boolean },
): Snapshot {
  const accessTo = (file: string): Access =>
    isUnused ? 'immutable=1' : existsSync(`${file}-shm`) ? 'readonly_shm=1' : '';
  const { connection, url } = openReadOnly(path, accessTo, { isOneState: true, anyVersion });
  return {
    path,
    url,
    version: versionOf(connection),
    statement: prepareOnce(connection),
    async copyTo(target, onProgress) {
      // Within the open transaction, because SQLite would otherwise start again at every write of
      // another connection.
      await backup(connection, target, {
        rate: PAGES_PER_STEP,
        progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
      });
    },
    close: () => connection.close(),
  };
}

const COPY = 'jobs.db';

/** A file of an older version, which is read as a migrated copy. */
export interface Older {
  version: number;
  /** How it differs from its manifest, which names the columns of its own version. */
  damage: string[];
}

/**
 * Works on a database that has this program's schema: the file itself, or a migrated copy of a file
 * of an older version, which is in the system's folder for temporary files until the work is done.
 * The file itself is never changed.
 */
export async function withNewestSchema<Result>(
  path: string,
  work: (path: string, older: Older | null) => Promise<Result>,
): Promise<Result> {
  const version = await withSnapshot(path, (snapshot) => snapshot.version, { anyVersion: true });
  if (version === newestVersion()) return work(path, null);
  return inTemporaryFolder(async (folder) => {
    const copy = join(folder, COPY);
    const damage = await withSnapshot(
      path,
      async (snapshot) => {
        const changed = await bySlices(checkManifest(snapshot));
        await snapshot.copyTo(copy, () => {});
        return changed;
      },
      { anyVersion: true },
    );
    openDatabase(copy).close(); // migrates it, and removes its manifest
    return work(copy, { version, damage });
  });
}
