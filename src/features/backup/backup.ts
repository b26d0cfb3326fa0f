import type { Watched } from '#commands/terminal.ts';
import { existsSync, statSync, constants, copyFileSync, linkSync, renameSync } from 'node:fs';
import { dirname, resolve, basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cannot, errorMessage, errorCode } from '#domain/service-error.ts';
import {
  assertFreeName,
  beginPartial,
  flush,
  giveName,
  type Partial,
  assertNoLogBeside,
  flushFolder,
  logBeside,
} from '#database/storage/new-file.ts';
import { unreadable, withSnapshot } from '#database/snapshot.ts';
import { describeDamage } from '#database/storage/faults.ts';
import { examineDatabase, queryInChildProcess } from '#database/integrity.ts';
import { checkManifest } from '#database/manifest.ts';
import { makeFolder, realPath, assertUsable } from '#database/storage/files.ts';
import { integer, query } from '#database/rows.ts';

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
function replaceDatabase(place: string, copy: string): string | null {
  assertUsable(place);
  const isThere = existsSync(place);
  if (isThere && logBeside(place) !== undefined) mergeLog(place);
  assertNoLogBeside(place);
  const aside = isThere ? keepOldDatabase(place) : null;
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
      `the log of the existing database cannot be merged into it (${errorMessage(error)}); ` +
        'end the programs that use it, or move its -wal and -shm files away',
      { cause: error },
    );
  }
}

/** Gives a database a second name with the time, or, where the file system has no links, a copy. */
function keepOldDatabase(place: string): string {
  for (let time = Date.now(); ; time += SECOND_MS) {
    const stamp = new Date(time).toISOString().slice(0, 19).replaceAll(':', '-');
    const name = `${basename(place, '.db')}-before-restore-${stamp}Z.db`;
    const aside = join(dirname(place), name);
    try {
      linkOrCopy(place, aside);
      flushFolder(dirname(place)); // no power cut may keep the new name without the old database
      return aside;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
    flush(name);
  }
}

export type BackupSummary = ReturnType<typeof seal>;

/** How often progress is reported. */
const PROGRESS_INTERVAL_MS = 20;
const USED_BYTES = query(
  `SELECT (page_count - freelist_count) * page_size
   FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  [integer],
);

/**
 * Writes what a database holds at one moment into a new file, whatever is written meanwhile, in a
 * process of its own that the signal ends.
 */
async function copyDatabase(
  target: string,
  path: string,
  { onProgress = () => {}, signal = new AbortController().signal }: Watched,
): Promise<void> {
  await withSnapshot(path, async (snapshot) => {
    const [bytes] = USED_BYTES.one(snapshot);
    const written = () => statSync(target, { throwIfNoEntry: false })?.size ?? 0;
    const timer = setInterval(
      () => onProgress(Math.min(1, written() / bytes)),
      PROGRESS_INTERVAL_MS,
    );
    try {
      const vacuum = { sql: `VACUUM INTO '${resolve(target).replaceAll("'", "''")}'` };
      const [{ error: problem }] = await queryInChildProcess(
        { path: null, url: snapshot.url },
        [vacuum],
        signal,
      );
      if (problem === null) return;
      const error = Object.assign(new Error(), problem);
      throw describeDamage(error) ? unreadable(path, error) : error;
    } finally {
      clearInterval(timer);
    }
  });
}

/**
 * Copies the current state of a database into a new file while others may write. The copy is
 * written under a temporary name, changed by `edit`, checked and flushed to disk before it gets its
 * final name, so `target` is either complete or missing. An existing file is never overwritten.
 * Unfinished copies of killed backups in that folder are removed first. Throws a `ServiceError`
 * (`cannot_start`) that says why there is no copy, or the signal's reason; either way nothing of
 * the copy is left.
 */
export async function backupDatabase(
  path: string,
  target: string,
  { edit, ...watched }: Watched & { edit?: (copy: string) => Promise<void> } = {},
): Promise<BackupSummary> {
  const { signal } = watched;
  let partial: Partial | undefined;
  try {
    await withSnapshot(path, () => assertFreeName(target, path));
    partial = beginPartial(target);
    await copyDatabase(partial.path, path, watched);
    await edit?.(partial.path);
    signal?.throwIfAborted();
    const summary = seal(partial.path);
    giveName(partial.path, target);
    return summary;
  } catch (error) {
    throw signal?.aborted ? error : cannot(`back up to ${target}`, error);
  } finally {
    partial?.release();
  }
}

/** Checks the copy and flushes it to disk. */
function seal(copy: string) {
  const connection = new DatabaseSync(copy);
  try {
    const [row] = connection.prepare('PRAGMA integrity_check(1)').all();
    if (row?.['integrity_check'] !== 'ok')
      throw new Error(`the database is damaged: ${row?.['integrity_check']}`);
    const count = (rows: string) =>
      Number(connection.prepare(`SELECT count(*) AS count FROM ${rows}`).get()?.['count']);
    return {
      bytes: statSync(copy).size,
      jobs: count('jobs'),
      /** Those with an active generation. */
      modelDays: count(`trading_sessions WHERE status = 'active'`),
      positions: count(
        `positions JOIN trading_sessions USING (session_id) WHERE status <> 'opening'`,
      ),
      bars: count('price_data'),
    };
  } finally {
    connection.close();
    flush(copy);
  }
}

/**
 * Puts a copy of `file` in the place of a database, which stays under another name. The copy is
 * verified and on the disk before anything changes; killed at any moment, there is the old database
 * or the new one. The caller owns the database. Throws a `ServiceError` that says why nothing was
 * restored, or the signal's reason.
 */
export async function restoreDatabase(path: string, file: string, watched: Watched = {}) {
  const { signal = new AbortController().signal } = watched;
  const place = realPath(path);
  let partial: Partial | undefined;
  try {
    if (existsSync(file) && realPath(file) === place)
      throw new Error(`${file} is that database itself`);
    makeFolder(dirname(place));
    partial = beginPartial(place);
    await copyDatabase(partial.path, file, watched);
    const [damage] = await findDamage(partial.path, signal);
    if (damage !== undefined) throw new Error(`${file} is damaged: ${damage}`);
    const summary = seal(partial.path);
    signal.throwIfAborted();
    return {
      ...summary,
      /** Where the database is that was there before; null if there was none. */
      aside: replaceDatabase(place, partial.path),
    };
  } catch (error) {
    throw signal.aborted ? error : cannot(`restore ${path}`, error);
  } finally {
    partial?.release();
  }
}

/**
 * What is wrong with a file, as `check` finds it: pages, constraints, references, and the digests
 * of a package.
 */
function findDamage(path: string, signal: AbortSignal): Promise<string[]> {
  return withSnapshot(path, async (snapshot) => {
    const { damage } = await examineDatabase(snapshot, signal);
    return [...damage, ...checkManifest(snapshot)];
  });
}
