import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../basics/domain.ts';
import { DATABASE_NAMES, isOwnerFile, tryLock } from './owner.ts';
import { realFolder, realPathOf } from './files.ts';

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

/** What SQLite puts beside a database, under its name and one of these. */
const SQLITE_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

/**
 * Throws when a file or folder of this name would be taken for another one: by SQLite, for part of
 * a database, there or not, or by the service whose database is given, for one of its own. The
 * folder's links are followed.
 */
export function assertUsableName(path: string, database: string): void {
  const name = basename(path).toLowerCase(); // some file systems do not tell capitals
  const place = join(realFolder(dirname(path)), name);
  if (SQLITE_SUFFIXES.some((suffix) => name.endsWith(suffix)))
    throw new Error('SQLite uses such a name beside a database');
  const isDatabase =
    dirname(place) === dirname(realPathOf(database)) && DATABASE_NAMES.includes(name);
  const isCopy = isPartialName(name) || name.endsWith('.db-restore');
  if (isDatabase || isCopy || isOwnerFile(path) || isOwnerFile(place))
    throw new Error('the service uses that name');
}

/**
 * As `assertUsableName`, and throws when something has that name, or a log lies there that SQLite
 * would apply to the file.
 */
export function assertFreeName(path: string, database: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined)
    throw new Error(found.isSymbolicLink() ? 'it is a symbolic link' : 'the file already exists');
  if (lstatSync(dirname(path), { throwIfNoEntry: false }) === undefined)
    throw new Error(`the folder ${dirname(path)} does not exist`);
  assertUsableName(path, database);
  const log = SQLITE_SUFFIXES.find(
    (suffix) => lstatSync(path + suffix, { throwIfNoEntry: false }) !== undefined,
  );
  if (log !== undefined)
    throw new Error(
      `${basename(path)}${log} lies beside it, and SQLite would apply that log to it`,
    );
}

/**
 * Gives a finished file its name; never replaces anything. Unlike a rename, a hard link fails when
 * the name is taken. Where the file system has none, the name is first taken by an empty file, and
 * only that is replaced.
 */
export function giveName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new Error('the file already exists', { cause: error });
    takeName(name);
    try {
      renameSync(file, name);
    } catch (failed) {
      rmSync(name);
      throw failed;
    }
  }
  flushFolder(dirname(name));
}

function takeName(name: string): void {
  try {
    closeSync(openSync(name, 'wx'));
  } catch (error) {
    throw codeOf(error) === 'EEXIST'
      ? new Error('the file already exists', { cause: error })
      : error;
  }
}

/** Flushes the content of a file to disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Flushes the names in a folder to disk; systems that cannot flush a folder do so by themselves.
 */
export function flushFolder(folder: string): void {
  try {
    const entry = openSync(folder, 'r');
    fsyncSync(entry);
    closeSync(entry);
  } catch {
    // The files themselves are already on disk.
  }
}
