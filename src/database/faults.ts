import { ServiceError } from '../domain.ts';

/** What can be wrong with the storage, by SQLite's primary result codes (https://sqlite.org/rescode.html). */
const STORAGE_FAULTS = new Map([
  [5, 'another program holds its write lock'],
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

/** Thrown when the path leads to no file any more, or to another one than was opened. */
export function fileIsGone(): ServiceError {
  return new ServiceError('storage_fault', sentence('its file was removed or replaced while the service runs'));
}

function sentence(what: string): string {
  return `Cannot use the database: ${what}`;
}
