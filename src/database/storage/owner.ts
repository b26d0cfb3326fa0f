import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError, messageOf } from '../../domain.ts';
import { assertOneName, realPathOf } from './file.ts';
import { makeFolder } from './folder.ts';

const SQLITE_BUSY = 5;
/** The database files of both modes, and the folder beside each; a database of any other name has the first. */
const FOLDERS: Record<string, string> = { 'jobs.db': 'agent_data', 'jobs_dev.db': 'dev_agent_data' };
const OTHER_FOLDER = 'agent_data';
const LOCK = 'owner.lock';

/** Held while a server owns a database. */
export interface Ownership {
  release(): void;
}

/**
 * Makes this process the one server of a database, or throws a `ServiceError` (`cannot_start`) that says who is. The
 * lock belongs to the file, wherever the name `path` leads: it lies beside the real file. A second lock lies in `folder`,
 * where programs of older versions look. Each is an open write transaction on a file of its own, so the operating system
 * drops it with the process, however that ends; and since that file is not the database, other programs can still read and
 * write the latter.
 */
export function claimOwnership(path: string, { folder, startedAt }: { folder: string; startedAt: string }): Ownership {
  const locks: DatabaseSync[] = [];
  const release = () => locks.forEach((lock) => lock.close());
  try {
    for (const file of lockFiles(path, folder)) {
      locks.push(lockOrThrow(file, { path, folder }));
      leaveNote(noteBeside(file), { pid: process.pid, started_at: startedAt });
    }
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Where the locks of a database lie, each once. */
function lockFiles(path: string, folder: string): Set<string> {
  makeLockFolder(folder);
  try {
    assertOneName(path);
  } catch (error) {
    throw new ServiceError('cannot_start', `Cannot start: ${path} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const file = realPathOf(path);
  const besideFile = join(dirname(file), FOLDERS[basename(file)] ?? OTHER_FOLDER);
  const name = basename(file) in FOLDERS ? LOCK : `${basename(file)}.lock`;
  makeLockFolder(besideFile);
  return new Set([realPathOf(join(besideFile, name)), realPathOf(join(folder, LOCK))]);
}

function makeLockFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw cannotBeWritten(folder, error);
  }
}

function lockOrThrow(lockFile: string, { path, folder }: { path: string; folder: string }): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile, { timeout: 0 });
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw cannotBeWritten(folder, error);
    const message = `Cannot start: the database ${path} is in use by ${ownerIn(noteBeside(lockFile))}`;
    throw new ServiceError('cannot_start', message, { cause: error });
  }
}

function cannotBeWritten(folder: string, error: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot start: ${folder} cannot be written: ${messageOf(error)}`, {
    cause: error,
  });
}

function noteBeside(lockFile: string): string {
  return lockFile.replace(/lock$/, 'json');
}

function leaveNote(noteFile: string, note: { pid: number; started_at: string }): void {
  try {
    writeFileSync(noteFile, JSON.stringify(note));
  } catch {
    // On a full disk a second server still learns that there is a first one.
  }
}

/** The note is for people; only the lock decides. */
function ownerIn(noteFile: string): string {
  try {
    const { pid, started_at } = JSON.parse(readFileSync(noteFile, 'utf8'));
    return `process ${Number(pid)}, started ${new Date(started_at).toISOString()}`;
  } catch {
    return 'another process that is just starting';
  }
}
