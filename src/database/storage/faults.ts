import { ServiceError } from '../../domain.ts';

const SQLITE_BUSY = 5;

/** What can be wrong with the storage, by SQLite's primary result codes (https://sqlite.org/rescode.html). */
const STORAGE_FAULTS = new Map([
  [SQLITE_BUSY, 'another program holds its write lock'],
  [6, 'another program holds its write lock'],
  [8, 'it is read-only'],
  [10, 'the disk reports an input or output error'],
  [11, 'its file is damaged'],
  [13, 'the disk is full'],
  [14, 'its file cannot be opened'],
  [26, 'its file is damaged'],
]);
/** The lowest byte of an extended result code is the primary one. */
const PRIMARY_CODE = 0xff;

/**
 * What is wrong with the storage, in words, when that is why something was thrown; null for any other error. Such a
 * fault is nobody's mistake and may go away: a full disk, a lock of another program, a folder that is not mounted.
 */
export function storageFaultOf(thrown: unknown): string | null {
  if (thrown instanceof ServiceError) return thrown.code === 'storage_fault' ? thrown.message : null;
  const what = STORAGE_FAULTS.get(Number((thrown as { errcode?: unknown } | null)?.errcode) & PRIMARY_CODE);
  return what === undefined ? null : sentence(what);
}

/** Whether a statement failed because another program holds the write lock. */
export function isLockHeld(thrown: unknown): boolean {
  return (Number((thrown as { errcode?: unknown } | null)?.errcode) & PRIMARY_CODE) === SQLITE_BUSY;
}

/** Throws what is said when the write lock was not to be had in time. */
export function lockIsHeld(): never {
  throw new ServiceError('storage_fault', sentence(STORAGE_FAULTS.get(SQLITE_BUSY) as string));
}

/** Thrown when the path leads to no file any more, or to another one than was opened. */
export function fileIsGone(): ServiceError {
  return new ServiceError('storage_fault', sentence('its file was removed or replaced while the service runs'));
}

/**
 * Thrown when the write-ahead log has no name any more and cannot be saved now: another program has the database open, or
 * an answer is still being read from it.
 */
export function logIsRemoved(cause: unknown): ServiceError {
  const what =
    'its log (-wal, -shm) was removed while the service runs, and cannot be saved while others have the database open; end them';
  return new ServiceError('storage_fault', sentence(what), { cause });
}

/** Thrown when another program has begun a write-ahead log of its own: the two would overwrite each other's pages. */
export function logIsReplaced(): ServiceError {
  const what =
    'its log (-wal, -shm) was replaced while the service runs, and what was written last may be lost; restart the service, then run check';
  return new ServiceError('storage_fault', sentence(what));
}

function sentence(what: string): string {
  return `Cannot use the database: ${what}`;
}
