import { existsSync, statSync } from 'node:fs';
import { backup } from 'node:sqlite';
import { ServiceError } from '../domain.ts';
import { type Reader, prepareOnce } from './database.ts';
import { versionOf } from './migrate.ts';
import { type Access, openReadOnly } from './read-only.ts';
import { realPathOf } from './storage/file.ts';

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
