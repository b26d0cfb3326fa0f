import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError, messageOf } from '../domain.ts';
import { assertFreeName, flush, giveName } from './storage/new-file.ts';
import { type Partial, beginPartial, removeAbandonedPartials } from './storage/partial.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';

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
      removeAbandonedPartials(dirname(target));
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
    throw refusal(target, messageOf(error), error);
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

function refusal(target: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot back up to ${target}: ${why}`, { cause });
}
