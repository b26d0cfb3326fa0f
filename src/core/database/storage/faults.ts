import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, errorMessage, ServiceError } from '#domain/service-error.ts';
import { asObject } from '#json/json.ts';

const SQLITE_BUSY = 5;
const LOCK_HELD = 'another program holds its write lock';
const DISK_FULL = 'the disk is full';

/**
 * What can be wrong with the storage, by SQLite's primary result codes
 * (https://sqlite.org/rescode.html).
 */
const STORAGE_FAULTS = new Map([
  [SQLITE_BUSY, LOCK_HELD],
  [6, LOCK_HELD],
  [8, 'it is read-only'],
  [10, 'the disk reports an input or output error'],
  [13, DISK_FULL],
  [14, 'its file cannot be opened'],
]);

/** SQLite's results for a file whose pages, or whose header, are not those of a database. */
const DAMAGED = [11, 26];

/** What file systems of a network may lack. */
export const NO_LOCKS = 'its file system refuses locks; use a folder on a local disk';
const NO_SHARED_MEMORY =
  'its file system cannot map the -shm file into memory, as SQLite needs; use a folder on a local disk';

/** By SQLite's extended result codes of an input or output error. */
const LACKS = new Map([
  [0x80a, NO_LOCKS],
  [0x90a, NO_LOCKS],
  [0xf0a, NO_LOCKS],
  [0x120a, NO_SHARED_MEMORY],
  [0x130a, NO_SHARED_MEMORY],
  [0x140a, NO_LOCKS],
  [0x150a, NO_SHARED_MEMORY],
]);

/** What is wrong with a damaged database, in SQLite's words, and what to do; undefined for any other error. */
export function describeDamage(thrown: unknown): string | undefined {
  if (!DAMAGED.includes(primaryCode(thrown))) return undefined;
  return `its file is damaged (${errorMessage(thrown)}); restore a backup`;
}

/**
 * The message of an error while a file at `path` was opened for writing. It says what to do if the
 * file system lacks what SQLite needs, or if only another user may write.
 */
export function storageMessage(thrown: unknown, path: string): string {
  return LACKS.get(resultCode(thrown)) ?? errorMessage(thrown) + ownerHint(path);
}

/** The command that lets this process write, if only another user may; otherwise empty. */
function ownerHint(path: string): string {
  const folder = dirname(path);
  try {
    for (const place of [folder, path]) accessSync(place, constants.W_OK);
  } catch (error) {
    const [user, group] = [process.getuid?.(), process.getgid?.()];
    if (errorCode(error) === 'EACCES')
      return `. This process runs as user ${user}; let it write: chown -R ${user}:${group} ${folder}`;
  }
  return '';
}

/**
 * Why an error was thrown, in words, if the storage caused it; null for any other error. Such a
 * fault is not a bug, and it may pass: a full disk, another program's lock, a folder that is not
 * mounted.
 */
export function findStorageFault(thrown: unknown): string | null {
  if (thrown instanceof ServiceError)
    return thrown.code === 'storage_fault' ? thrown.message : null;
  const what =
    describeDamage(thrown) ??
    LACKS.get(resultCode(thrown)) ??
    STORAGE_FAULTS.get(primaryCode(thrown));
  return what === undefined ? null : sentence(what);
}

/** Whether a statement failed because another program holds the write lock. */
export function isLockHeld(thrown: unknown): boolean {
  return primaryCode(thrown) === SQLITE_BUSY;
}

/** Throws because the write lock stayed taken. */
export function throwLockHeld(): never {
  throw storageFault(LOCK_HELD);
}

export function storageFault(what: string, cause?: unknown): ServiceError {
  return new ServiceError('storage_fault', sentence(what), { cause });
}

function sentence(what: string): string {
  return `Cannot use the database: ${what}`;
}

/** The lowest byte of an extended result code is the primary one. */
function primaryCode(thrown: unknown): number {
  return resultCode(thrown) & 0xff;
}

function resultCode(thrown: unknown): number {
  return Number(asObject(thrown)?.['errcode']);
}

/** Types of file systems that may be on another machine, as `statfs` reports them on Linux. */
const REMOTE = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x65735546, 'FUSE'],
  [0x1021997, '9p'],
  [0xc36400, 'Ceph'],
  [0xbd00bd0, 'Lustre'],
]);

/** The name of the file system of a file, if that may be on another machine; null on any other. */
export function remoteFileSystem(path: string): string | null {
  return REMOTE.get(statfsSync(path).type >>> 0) ?? null;
}

/**
 * A disk with less room counts as full. A single page may fit where a commit does not: a job that
 * took this for room would run its model-days again, pay for them again, and fail to store them
 * again.
 */
const MIN_ROOM_BYTES = 1 << 20;

/** Whether the disk of this file or folder has room: for a commit, or for so many bytes. */
export function hasRoom(path: string, wantedBytes = MIN_ROOM_BYTES): boolean {
  const { blocks, bavail, bsize } = statfsSync(path);
  // A file system without a size of its own, as a tmpfs may be, reports 0 for both.
  return blocks === 0 || bavail * bsize >= wantedBytes;
}

/** Throws because the disk has no room. */
export function throwDiskFull(): never {
  throw storageFault(DISK_FULL);
}
