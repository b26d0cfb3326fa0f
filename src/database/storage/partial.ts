import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isLockHeld } from './faults.ts';

/** As `beginPartial` names them; older versions wrote no random part, and no lock. */
const NAME = /\.(\d+)(-[0-9a-f]{8})?\.partial(-journal|-wal|-shm|-lock|-lock-journal)?$/;
/** SQLite's side files, and our lock. */
const ENDINGS = ['', '-journal', '-wal', '-shm', '-lock', '-lock-journal'];
/** Of the copies without a lock only those that nobody has written to for so long are given up. */
const UNTOUCHED_MS = 3_600_000;
/** More than this is left for the next time. */
const MAX_REMOVED = 100;
/** Tries to lock a new name; a second one is needed only where a cleaner came between making and locking. */
const MAX_TRIES = 5;

/** A copy that is being written under a name of its own. */
export interface Partial {
  path: string;
  /** Removes what is left of it. */
  release(): void;
}

/**
 * Begins a copy beside `target`, under a name that no other process uses. A lock beside it, which goes with this process
 * however it ends, tells others that somebody still writes it.
 */
export function beginPartial(target: string): Partial {
  for (let tries = 1; ; tries += 1) {
    const path = `${target}.${process.pid}-${crypto.randomUUID().slice(0, 8)}.partial`;
    const lock = tryLock(path);
    // A cleaner may have had the lock in between, and have removed it with its file.
    if (lock !== null && existsSync(`${path}-lock`)) return { path, release: () => (remove(path), lock.close()) };
    lock?.close();
    if (tries === MAX_TRIES) throw new Error(`the lock ${path}-lock cannot be kept`);
  }
}

/**
 * Removes from a folder the copies whose makers were killed: nobody holds their lock. Those of a process that lives are
 * left alone, in whatever container it runs. What cannot be removed stays.
 */
export function removeAbandonedPartials(folder: string): void {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
  const paths = new Set(files.map((name) => join(folder, name.replace(/\.partial.*$/, '.partial'))));
  for (const path of [...paths].slice(0, MAX_REMOVED)) {
    try {
      removeIfAbandoned(path);
    } catch {
      // Another user's file, or a disk that refuses: no reason to stop a backup or a service.
    }
  }
}

function removeIfAbandoned(path: string): void {
  if (!existsSync(`${path}-lock`)) {
    if (isOldAndUnused(path)) remove(path);
    return;
  }
  const lock = tryLock(path);
  if (lock === null) return;
  remove(path);
  lock.close();
}

/** Null while another process holds it. */
function tryLock(path: string): DatabaseSync | null {
  const lock = new DatabaseSync(`${path}-lock`, { timeout: 0 });
  try {
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock.close();
    if (isLockHeld(error)) return null;
    throw error;
  }
}

function isOldAndUnused(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && Date.now() - found.mtimeMs < UNTOUCHED_MS) return false;
  const [, pid] = NAME.exec(basename(path)) as RegExpExecArray;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function remove(path: string): void {
  for (const ending of ENDINGS) rmSync(path + ending, { force: true });
}
