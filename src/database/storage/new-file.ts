import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../domain.ts';
import { realFolder, realPathOf } from './file.ts';
import { DATABASE_NAMES, isOwnerFile } from './owner.ts';
import { isPartialName } from './partial.ts';

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
