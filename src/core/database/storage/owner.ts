import { DatabaseSync } from 'node:sqlite';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { isLockHeld, NO_LOCKS, storageMessage } from './faults.ts';
import { cannot, errorMessage } from '#domain/service-error.ts';
import { assertUsable, makeFolder, realFolder, realPath } from './files.ts';

/**
 * Locks a file, which it creates, by an open write transaction on it, which the operating system
 * ends with this process, however it ends. Closing it releases the lock. Null while another process
 * holds it.
 */
export function tryLock(file: string): DatabaseSync | null {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock.close();
    if (isLockHeld(error)) return null;
    throw error;
  }
}

/**
 * Whether the file system of a folder has locks: a new file can be locked there. SQLite reports one
 * without locks (`ENOLCK`) as it does a lock that is held.
 */
function canLock(folder: string): boolean {
  // What a killed process leaves is removed as the lock of a copy.
  const file = join(folder, `${LOCK}.${process.pid}-${randomUUID().slice(0, 8)}.partial-lock`);
  try {
    const lock = tryLock(file);
    lock?.close();
    return lock !== null;
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * The database files of both modes, and the folder beside each; a database of any other name uses
 * the first.
 */
const FOLDERS: Record<string, string> = {
  'jobs.db': 'agent_data',
  'jobs_dev.db': 'dev_agent_data',
};
const OTHER_FOLDER = 'agent_data';
const LOCK = 'owner.lock';

/** The names of the databases of both modes. */
export const DATABASE_NAMES: readonly string[] = Object.keys(FOLDERS);

/**
 * Makes this process the only server of a database until `release` is called, or throws a
 * `ServiceError` (`cannot_start`) that names the owner. The lock is beside the real file, wherever
 * the name `path` leads. It is not the database itself, so other programs can still read and write
 * that.
 */
export function claimOwnership(
  path: string,
  { startedAt, purpose = 'start' }: { startedAt: string; purpose?: string },
) {
  const busy = (owner: string) => `the database ${path} is in use by ${owner}`;
  return claim(path, { startedAt, purpose, lock: 'lock', busy });
}

/**
 * Makes this process the only one that imports documents into a database until `release` is called,
 * or throws a `ServiceError` that names the other one. What lies there from an import without a
 * number was then left by one that has ended.
 */
export function claimDocuments(path: string, startedAt: string) {
  const busy = (owner: string) =>
    `another import of documents into ${path} is running, in ${owner}; run this one when that has ended`;
  return claim(path, { startedAt, purpose: 'import documents', lock: 'documents.lock', busy });
}

interface Claim {
  startedAt: string;
  purpose: string;
  /** The suffix of the lock file. */
  lock: string;
  /** Error message when another process holds the lock. */
  busy: (owner: string) => string;
}

function claim(path: string, { startedAt, purpose, lock: suffix, busy }: Claim) {
  try {
    const file = lockFile(path).replace(/lock$/, suffix);
    const lock = writeToFolder(path, () => tryLock(file));
    if (lock === null && !canLock(dirname(file)))
      throw new Error(`${path} cannot be used: ${NO_LOCKS}`);
    if (lock === null) throw new Error(busy(readOwner(ownerFilePath(file))));
    writeOwnerFile(ownerFilePath(file), { pid: process.pid, started_at: startedAt });
    return { release: () => lock.close() };
  } catch (error) {
    throw cannot(purpose, error);
  }
}

/** Whether a file is the lock of some database or the note beside it, wherever that database is. */
export function isOwnerFile(path: string): boolean {
  const [name, folder] = [basename(path).toLowerCase(), basename(dirname(path)).toLowerCase()];
  return (
    name === LOCK ||
    name === ownerFilePath(LOCK) ||
    (Object.values(FOLDERS).includes(folder) && /\.(lock|json)$/.test(name))
  );
}

/** Where the lock of a database is; makes its folder. */
function lockFile(path: string): string {
  const file = writeToFolder(path, () => {
    const real = realPath(path);
    makeFolder(folderBeside(real));
    return real;
  });
  try {
    assertUsable(file);
  } catch (error) {
    throw new Error(`${path} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
  const name = basename(file) in FOLDERS ? LOCK : `${basename(file)}.lock`;
  // Its own links are not followed: where one leads, a note would replace another's file.
  return join(realFolder(folderBeside(file)), name);
}

function folderBeside(path: string): string {
  return join(dirname(path), FOLDERS[basename(path)] ?? OTHER_FOLDER);
}

/** Writes to the folder of a database's lock, or throws an error that names it. */
function writeToFolder<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    throw new Error(`${folderBeside(path)} cannot be written: ${storageMessage(cause, path)}`, {
      cause,
    });
  }
}

function ownerFilePath(lockFile: string): string {
  return lockFile.replace(/lock$/, 'json');
}

/**
 * What had the name is replaced, never written to: it may be a link, or a FIFO without a reader.
 */
function writeOwnerFile(noteFile: string, note: { pid: number; started_at: string }): void {
  try {
    rmSync(noteFile, { force: true });
    writeFileSync(noteFile, JSON.stringify(note), { flag: 'wx' });
  } catch {
    // On a full disk a second server still learns that there is a first one.
  }
}

/** The note is for people; the lock decides. */
function readOwner(noteFile: string): string {
  try {
    const { pid, started_at } = JSON.parse(readFileSync(noteFile, 'utf8'));
    return `process ${Number(pid)}, started ${new Date(started_at).toISOString()}`;
  } catch {
    return 'another process that is just starting';
  }
}
