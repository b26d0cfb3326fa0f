import { existsSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { assertFreeName, beginPartial, flush, giveName, type Partial } from './storage/new-file.ts';
import { type Snapshot, withNewestSchema, withSnapshot } from './snapshot.ts';
import { bySlices } from '../basics/turns.ts';
import { examineDatabase } from './integrity.ts';
import { checkManifest } from './manifest.ts';
import { makeFolder, realPathOf } from './storage/files.ts';
import { asideName, finishRestore, isFreeAside, makeReady } from './storage/restoring.ts';

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

/**
 * Copies the current state of a database into a new file while others may write. The copy is
 * written under a temporary name, checked and flushed to disk before it gets its final name, so
 * `target` is either complete or missing. An existing file is never overwritten. Unfinished copies
 * of killed backups in that folder are removed first. Throws a `ServiceError` (`cannot_start`) that
 * says why there is no copy, or the signal's reason; either way nothing of the copy is left.
 */
export async function backupDatabase(
  path: string,
  target: string,
  watched: Watched = {},
): Promise<BackupSummary> {
  const fill = (snapshot: Snapshot, partial: string) =>
    snapshot.copyTo(partial, stoppable(watched));
  return writeCopy({ path, target, fill }, watched);
}

/**
 * Reports progress, and throws the signal's reason between two steps, when nothing is being
 * written.
 */
export function stoppable({ onProgress = () => {}, signal }: Watched): (share: number) => void {
  return (share) => {
    signal?.throwIfAborted();
    onProgress(share);
  };
}

/** As `backupDatabase`, with a copy that `fill` writes from a snapshot of the database. */
export async function writeCopy(
  {
    path,
    target,
    fill,
  }: { path: string; target: string; fill: (snapshot: Snapshot, partial: string) => Promise<void> },
  { signal }: Watched,
): Promise<BackupSummary> {
  let partial: Partial | undefined;
  try {
    const copy = await withSnapshot(path, async (snapshot) => {
      assertFreeName(target, path);
      partial?.release(); // of a file that a program opened meanwhile, which is read again
      partial = beginPartial(target);
      await fill(snapshot, partial.path);
      return partial.path;
    });
    signal?.throwIfAborted();
    const summary = seal(copy);
    giveName(copy, target);
    return summary;
  } catch (error) {
    if (error instanceof ServiceError || signal?.aborted) throw error;
    throw backupRefusal(target, messageOf(error), error);
  } finally {
    partial?.release();
  }
}

/** Turns the copy into a single file, checks it and flushes it to disk. */
export function seal(partial: string): BackupSummary {
  const copy = new DatabaseSync(partial);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
    const [row] = copy.prepare('PRAGMA integrity_check(1)').all();
    if (row?.['integrity_check'] !== 'ok')
      throw new Error(`the database is damaged: ${row?.['integrity_check']}`);
    const count = (rows: string) =>
      Number(copy.prepare(`SELECT count(*) AS count FROM ${rows}`).get()?.['count']);
    return {
      bytes: statSync(partial).size,
      jobs: count('jobs'),
      modelDays: count(`trading_sessions WHERE status = 'active'`),
      positions: count(
        `positions JOIN trading_sessions USING (session_id) WHERE status <> 'opening'`,
      ),
      bars: count('price_data'),
    };
  } finally {
    copy.close();
    flush(partial);
  }
}

function backupRefusal(target: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot back up to ${target}: ${why}`, { cause });
}

/** The next free second names what is moved aside. */
const SECOND_MS = 1_000;

export interface Restored extends BackupSummary {
  /** Where the database is that was there before; null if there was none. */
  aside: string | null;
}

/**
 * Puts a copy of `file` in the place of a database, which is moved aside with its log. The copy is
 * verified and on the disk before anything is moved. Killed at any moment, it leaves the old
 * database as it was, or a restore that `finishRestore` finishes. The caller owns the database.
 * Throws a `ServiceError` that says why nothing was restored, or the signal's reason; then nothing
 * has changed.
 */
export async function restoreDatabase(
  path: string,
  file: string,
  watched: Watched = {},
): Promise<Restored> {
  const place = realPathOf(path);
  if (existsSync(file) && realPathOf(file) === place)
    throw restoreRefusal(path, `${file} is that database itself`);
  makeFolder(dirname(place));
  const partial = beginPartial(place);
  try {
    await withSnapshot(file, (snapshot) => snapshot.copyTo(partial.path, stoppable(watched)), {
      anyVersion: true,
    });
    const summary = seal(partial.path);
    const [damage] = await damageOf(partial.path, watched.signal);
    if (damage !== undefined) throw new Error(`${file} is damaged: ${damage}`);
    watched.signal?.throwIfAborted();
    nameByTime(partial.path, path);
    makeReady(partial.path, path);
    return { ...summary, aside: finishRestore(path) ?? null };
  } catch (error) {
    if (error instanceof ServiceError || watched.signal?.aborted) throw error;
    throw restoreRefusal(path, messageOf(error), error);
  } finally {
    partial.release();
  }
}

/**
 * What is wrong with a file, as `check` finds it: pages, constraints, references, and the digests
 * of a package.
 */
async function damageOf(path: string, signal = new AbortController().signal): Promise<string[]> {
  return withNewestSchema(path, (current, older) =>
    withSnapshot(current, async (snapshot) => {
      const { damage } = await examineDatabase(snapshot, signal, { isReadOnly: false });
      const changed = await bySlices(checkManifest(snapshot), () => signal.throwIfAborted());
      return [...(older?.damage ?? []), ...damage, ...changed];
    }),
  );
}

/**
 * The copy's own time says where the old database goes, also to a process that finishes a restore.
 */
function nameByTime(copy: string, path: string): void {
  let time = new Date(Math.floor(Date.now() / SECOND_MS) * SECOND_MS);
  while (!isFreeAside(asideName(path, time))) time = new Date(time.getTime() + SECOND_MS);
  utimesSync(copy, time, time);
  flush(copy);
}

function restoreRefusal(path: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot restore ${path}: ${why}`, { cause });
}
