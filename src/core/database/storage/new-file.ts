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
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '#domain/service-error.ts';
import { DATABASE_NAMES, isOwnerFile, tryLock } from './owner.ts';
import { realFolder, realPath } from './files.ts';

/** Names of unfinished copies and of their side files. */
const NAME = /\.\d+-[0-9a-f]{8}\.partial(-journal|-wal|-shm|-lock|-lock-journal)?$/;
const LOCK = '-lock';
/** SQLite's side files, and our lock, the last to be removed. */
const SUFFIXES = ['', '-journal', '-wal', '-shm', '-lock-journal', LOCK];
/** Copies removed in one pass; others are left for the next time. */
const MAX_REMOVED = 100;
/**
 * Attempts to lock a new name; a second is needed only when another process removed the lock as
 * abandoned.
 */
const MAX_TRIES = 5;

/** A copy that is being written under a temporary name. */
export interface Partial {
  path: string;
  /** Removes whatever is left of it. */
  release(): void;
}

/**
 * Begins a copy beside `target`, under a name that no other process uses. A lock beside it, which
 * ends with this process, shows others that it is still being written. What killed processes left
 * in that folder is removed first.
 */
export function beginPartial(target: string): Partial {
  removeAbandonedPartials(dirname(target));
  for (let tries = 1; ; tries += 1) {
    const path = `${target}.${process.pid}-${crypto.randomUUID().slice(0, 8)}.partial`;
    const lock = tryLock(path + LOCK);
    // Before it was locked, another process may have removed it as abandoned.
    if (lock !== null && existsSync(path + LOCK))
      return { path, release: () => (remove(path), lock.close()) };
    lock?.close();
    if (tries === MAX_TRIES) throw new Error(`the lock ${path}${LOCK} cannot be kept`);
  }
}

/**
 * Removes the copies of killed processes from a folder: their locks are there and free. Keeps the
 * copies of a living process, in whatever container it runs, any that cannot be removed, and what
 * has such a name but no lock, which is not ours.
 */
export function removeAbandonedPartials(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
  const locks = names.filter((name) => name.endsWith(LOCK));
  for (const name of locks.slice(0, MAX_REMOVED)) {
    try {
      const path = join(folder, name.slice(0, -LOCK.length));
      const lock = tryLock(path + LOCK);
      if (lock !== null) remove(path);
      lock?.close();
    } catch {
      // Another user's file, or a disk that refuses: no reason to stop a backup or a service.
    }
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
    throw new Error('SQLite uses such a name for the log of a database');
  const isDatabase =
    dirname(place) === dirname(realPath(database)) && DATABASE_NAMES.includes(name);
  if (isDatabase || NAME.test(name) || isOwnerFile(path) || isOwnerFile(place))
    throw new Error('the service uses that name');
}

/** The suffix of a log that lies beside a database, or undefined. */
export function logBeside(path: string): string | undefined {
  return SQLITE_SUFFIXES.find(
    (suffix) => lstatSync(path + suffix, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Throws when a log lies where SQLite would apply it to a file that gets this name. */
export function assertNoLogBeside(path: string): void {
  const log = logBeside(path);
  if (log !== undefined)
    throw new Error(`${basename(path)}${log} exists, and SQLite would apply that log to it`);
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
  assertNoLogBeside(path);
}

/**
 * Gives a finished file its name; never replaces anything. Unlike a rename, a hard link fails when
 * the name is taken. Where the file system has none, the name is first taken by an empty file, and
 * only that is replaced.
 */
export function giveName(file: string, name: string): void {
  try {
    linkOrRename(file, name);
  } catch (error) {
    throw errorCode(error) === 'EEXIST'
      ? new Error('the file already exists', { cause: error })
      : error;
  }
  flushFolder(dirname(name));
}

function linkOrRename(file: string, name: string): void {
  try {
    return linkSync(file, name);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw error;
  }
  closeSync(openSync(name, 'wx'));
  try {
    renameSync(file, name);
  } catch (error) {
    rmSync(name);
    throw error;
  }
}

/**
 * Writes a file whole or not at all: under a temporary name, and then it gets its own. What had
 * that name is replaced, also a link or a FIFO, and never written to. Throws when something has the
 * temporary name already. With `flush`, the content survives a power cut.
 */
export function replaceFile(
  path: string,
  content: string | Buffer,
  { unfinished, ...options }: { unfinished: string; flush?: boolean; mode?: number },
): void {
  try {
    writeFileSync(unfinished, content, { ...options, flag: 'wx' });
    renameSync(unfinished, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') rmSync(unfinished, { force: true });
    throw error;
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
