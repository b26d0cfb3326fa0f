import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { assertFreeName, beginPartial, flush, giveName, type Partial } from './storage/new-file.ts';
import { withSnapshot } from './snapshot.ts';
import { examineDatabase, queryApart } from './integrity.ts';
import { checkManifest } from './manifest.ts';
import { makeFolder, realPathOf } from './storage/files.ts';
import { replaceDatabase } from './storage/restoring.ts';
import { integer, query } from './rows.ts';

export interface BackupSummary {
  bytes: number;
  jobs: number;
  /** Those with an active generation. */
  modelDays: number;
  positions: number;
  bars: number;
}

/** While a copy is written: receives the fraction that is done; the signal stops it. */
export interface Watched {
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
}

/** How often progress is reported. */
const LOOK_AGAIN_MS = 20;
const USED_BYTES = query(
  `SELECT (page_count - freelist_count) * page_size
   FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  [integer],
);

/**
 * Writes what a database holds at one moment into a new file, whatever is written meanwhile, in a
 * process of its own that the signal ends.
 */
async function copyTo(
  target: string,
  path: string,
  { onProgress = () => {}, signal = new AbortController().signal }: Watched,
): Promise<void> {
  await withSnapshot(path, async (snapshot) => {
    const [bytes] = USED_BYTES.one(snapshot);
    const written = () => statSync(target, { throwIfNoEntry: false })?.size ?? 0;
    const timer = setInterval(() => onProgress(Math.min(1, written() / bytes)), LOOK_AGAIN_MS);
    try {
      const vacuum = { sql: `VACUUM INTO '${resolve(target).replaceAll("'", "''")}'` };
      const [{ error }] = await queryApart({ path: null, url: snapshot.url }, [vacuum], signal);
      if (error !== null) throw new Error(error);
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
    await copyTo(partial.path, path, watched);
    await edit?.(partial.path);
    signal?.throwIfAborted();
    const summary = seal(partial.path);
    giveName(partial.path, target);
    return summary;
  } catch (error) {
    if (error instanceof ServiceError || signal?.aborted) throw error;
    throw new ServiceError('cannot_start', `Cannot back up to ${target}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    partial?.release();
  }
}

/** Checks the copy and flushes it to disk. */
function seal(copy: string): BackupSummary {
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

export interface Restored extends BackupSummary {
  /** Where the database is that was there before; null if there was none. */
  aside: string | null;
}

/**
 * Puts a copy of `file` in the place of a database, which stays under another name. The copy is
 * verified and on the disk before anything changes; killed at any moment, there is the old database
 * or the new one. The caller owns the database. Throws a `ServiceError` that says why nothing was
 * restored, or the signal's reason.
 */
export async function restoreDatabase(
  path: string,
  file: string,
  watched: Watched = {},
): Promise<Restored> {
  const { signal = new AbortController().signal } = watched;
  const place = realPathOf(path);
  let partial: Partial | undefined;
  try {
    if (existsSync(file) && realPathOf(file) === place)
      throw new Error(`${file} is that database itself`);
    makeFolder(dirname(place));
    partial = beginPartial(place);
    await copyTo(partial.path, file, watched);
    const [damage] = await damageOf(partial.path, signal);
    if (damage !== undefined) throw new Error(`${file} is damaged: ${damage}`);
    const summary = seal(partial.path);
    signal.throwIfAborted();
    return { ...summary, aside: replaceDatabase(place, partial.path) };
  } catch (error) {
    if (error instanceof ServiceError || signal.aborted) throw error;
    throw new ServiceError('cannot_start', `Cannot restore ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    partial?.release();
  }
}

/**
 * What is wrong with a file, as `check` finds it: pages, constraints, references, and the digests
 * of a package.
 */
function damageOf(path: string, signal: AbortSignal): Promise<string[]> {
  return withSnapshot(path, async (snapshot) => {
    const { damage } = await examineDatabase(snapshot, signal, { isReadOnly: false });
    return [...damage, ...checkManifest(snapshot)];
  });
}
