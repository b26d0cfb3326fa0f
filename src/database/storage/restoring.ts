import { constants, copyFileSync, existsSync, linkSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf } from '../../basics/domain.ts';
import { assertUsable } from './files.ts';
import { assertNoLogBeside, flush, flushFolder, logBeside } from './new-file.ts';

/** How long another program may keep the log locked. */
const LOCK_TIMEOUT_MS = 5_000;
/** The next free second names what is kept. */
const SECOND_MS = 1_000;

/**
 * Puts a complete copy, which is on the disk, in the place of a database. That stays as one file
 * under another name, which is returned; null if there was none. A rename replaces one file by the
 * other, so at any moment there is the old database or the new one. Throws an error that says why
 * the database is as it was.
 */
export function replaceDatabase(place: string, copy: string): string | null {
  assertUsable(place);
  const isThere = existsSync(place);
  if (isThere && logBeside(place) !== undefined) mergeLog(place);
  assertNoLogBeside(place);
  const aside = isThere ? keepAside(place) : null;
  renameSync(copy, place);
  flushFolder(dirname(place));
  return aside;
}

/** Moves what the log of a database holds into its file, and removes the log. */
function mergeLog(place: string): void {
  try {
    const connection = new DatabaseSync(place, { timeout: LOCK_TIMEOUT_MS });
    try {
      connection.exec('SELECT 1 FROM sqlite_schema; PRAGMA journal_mode = DELETE');
    } finally {
      connection.close();
    }
  } catch (error) {
    throw new Error(
      `the log beside the database that is there cannot be merged into it (${messageOf(error)}); ` +
        'end the programs that use it, or move its -wal and -shm files away',
      { cause: error },
    );
  }
}

/** Gives a database a second name with the time, or, where the file system has no links, a copy. */
function keepAside(place: string): string {
  for (let time = Date.now(); ; time += SECOND_MS) {
    const stamp = new Date(time).toISOString().slice(0, 19).replaceAll(':', '-');
    const name = `${basename(place, '.db')}-before-restore-${stamp}Z.db`;
    const aside = join(dirname(place), name);
    try {
      linkOrCopy(place, aside);
      flushFolder(dirname(place)); // no power cut may keep the new name without the old database
      return aside;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
    flush(name);
  }
}
