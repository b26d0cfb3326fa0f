import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { codeOf } from '../../domain.ts';
import { tryLock } from './lock.ts';

/** As `beginPartial` names them; older versions wrote neither a random part nor a lock. */
const NAME = /\.(\d+)(-[0-9a-f]{8})?\.partial(-journal|-wal|-shm|-lock|-lock-journal)?$/;
/** SQLite's side files, and our lock. */
const SUFFIXES = ['', '-journal', '-wal', '-shm', '-lock', '-lock-journal'];
/** Copies without a lock are removed only when they have not been written to for this long. */
const UNTOUCHED_MS = 3_600_000;
/** Copies removed in one pass; others are left for the next time. */
const MAX_REMOVED = 100;
/**
 * Attempts to lock a new name; a second is needed only when another process removed the lock as
 * abandoned.
 */
const MAX_TRIES = 5;

/** Whether a file of this name would be taken for an unfinished copy. */
export function isPartialName(name: string): boolean {
  return NAME.test(name);
}

/** A copy that is being written under a temporary name. */
export interface Partial {
  path: string;
  /** Removes whatever is left of it. */
  release(): void;
}

/**
 * Begins a copy beside `target`, under a name that no other process uses. A lock beside it, which
 * ends with this process, shows others that it is still being written.
 */
export function beginPartial(target: string): Partial {
  for (let tries = 1; ; tries += 1) {
    const path = `${target}.${process.pid}-${crypto.randomUUID().slice(0, 8)}.partial`;
    const lock = tryLock(`${path}-lock`);
    // Before it was locked, another process may have removed it as abandoned.
    if (lock !== null && existsSync(`${path}-lock`))
      return { path, release: () => (remove(path), lock.close()) };
    lock?.close();
    if (tries === MAX_TRIES) throw new Error(`the lock ${path}-lock cannot be kept`);
  }
}

/**
 * Removes the copies of killed processes from a folder: their locks are free. Keeps the copies of a
 * living process, in whatever container it runs, and any that cannot be removed.
 */
export function removeAbandonedPartials(folder: string): void {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
  const paths = new Set(
    files.map((name) => join(folder, name.replace(/\.partial.*$/, '.partial'))),
  );
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
  const lock = tryLock(`${path}-lock`);
  if (lock === null) return;
  remove(path);
  lock.close();
}

function isOldAndUnused(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && Date.now() - found.mtimeMs < UNTOUCHED_MS) return false;
  try {
    process.kill(Number(NAME.exec(basename(path))?.[1]), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function remove(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}
