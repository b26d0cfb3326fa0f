import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, backup } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError, messageOf } from '../domain.ts';
import { BUSY_TIMEOUT_MS, type Reader, prepareOnce } from './database.ts';
import { assertOneName, realPathOf } from './storage/file.ts';
import { checkOwnership, versionOf } from './migrate.ts';
import { newestVersion } from './schema.ts';

/** Pages copied before the event loop runs again: about 8 MB. */
const PAGES_PER_STEP = 2_000;

/** A read-only view of a database as it was at one moment, whatever is written meanwhile. */
export interface Snapshot extends Reader {
  /** Of its schema. */
  readonly version: number;
  /** The file as a URL with SQLite's parameters, for further connections like this one. */
  readonly url: string;
  /** Writes this state to another file, page by page; `onProgress` receives the fraction that is done. */
  copyTo(target: string, onProgress: (share: number) => void): Promise<void>;
}

/**
 * Works on a snapshot of a database while others may write. Leaves no trace, not even the empty side files that SQLite
 * creates for a reader and that would belong to this user instead of the server's. So a file that no program has open is read
 * as immutable, and read again in the usual way if one opened it meanwhile; the index of a log is only read. Throws a
 * `ServiceError` (`storage_fault`) for a file that is missing, unreadable, or not a database of this version; with `anyVersion`, not
 * of an earlier one either.
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

/** Distinguishes one state of the file from the next; null while a connection to it is open, which a `-wal` file shows. */
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

function openSnapshot(path: string, { isUnused, anyVersion }: { isUnused: boolean; anyVersion: boolean }): Snapshot {
  const hasIndex = existsSync(`${realPathOf(path)}-shm`);
  const url = `${pathToFileURL(path).href}${isUnused ? '?immutable=1' : hasIndex ? '?readonly_shm=1' : ''}`;
  let connection: DatabaseSync | undefined;
  try {
    assertOneName(path);
    connection = new DatabaseSync(new URL(url), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    // The transaction keeps the state of its first read until the connection is closed.
    connection.exec('BEGIN');
    checkOwnership(connection, path);
    if (!anyVersion) checkVersion(connection, path);
  } catch (error) {
    connection?.close();
    const isClear = error instanceof ServiceError;
    const message = isClear ? error.message : `Cannot read the database ${path}: ${messageOf(error)}`;
    throw new ServiceError('storage_fault', message, { cause: error });
  }
  return wrap(connection, { path, url });
}

function wrap(connection: DatabaseSync, { path, url }: { path: string; url: string }): Snapshot {
  return {
    path,
    url,
    version: versionOf(connection),
    statement: prepareOnce(connection),
    async copyTo(target, onProgress) {
      // Within the open transaction, because SQLite would otherwise start again at every write of another connection.
      await backup(connection, target, {
        rate: PAGES_PER_STEP,
        progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
      });
    },
    close: () => connection.close(),
  };
}

/** Thrown for a file with the schema of an earlier program. */
export class OlderSchema extends ServiceError {}

/** A reader migrates nothing, and the queries are written for the newest schema: throws an `OlderSchema` for an older one. */
export function checkVersion(connection: DatabaseSync, path: string): void {
  const version = versionOf(connection);
  if (version === newestVersion) return;
  throw new OlderSchema(
    'storage_fault',
    `Cannot read ${path}: its schema is version ${version}, this program reads version ${newestVersion}; ` +
      'start the service on it once to migrate it',
  );
}
