import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError, messageOf } from '../domain.ts';
import { makeFolder } from './folder.ts';

const SQLITE_BUSY = 5;

/** Held while a server owns a database. */
export interface Ownership {
  release(): void;
}

/**
 * Makes this process the one server of a database, or throws a `ServiceError` (`cannot_start`) that says who is. The
 * lock is an open write transaction on a file of its own, so the operating system drops it with the process, however
 * that ends; and since that file is not the database, other programs can still read and write the latter.
 */
export function claimOwnership(folder: string, { startedAt }: { startedAt: string }): Ownership {
  const noteFile = join(folder, 'owner.json');
  let lock: DatabaseSync | undefined;
  try {
    makeFolder(folder);
    lock = new DatabaseSync(join(folder, 'owner.lock'), { timeout: 0 });
    lock.exec('BEGIN IMMEDIATE');
  } catch (error) {
    lock?.close();
    const isTaken = (error as { errcode?: number }).errcode === SQLITE_BUSY;
    const message = isTaken
      ? `the database beside ${folder} is in use by ${ownerIn(noteFile)}`
      : `${folder} cannot be written: ${messageOf(error)}`;
    throw new ServiceError('cannot_start', `Cannot start: ${message}`, { cause: error });
  }
  leaveNote(noteFile, { pid: process.pid, started_at: startedAt });
  return { release: () => lock.close() };
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
