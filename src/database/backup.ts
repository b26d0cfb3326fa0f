import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError, messageOf } from '../domain.ts';
import { type Partial, beginPartial, removeAbandonedPartials } from './storage/partial.ts';
import { withSnapshot } from './snapshot.ts';

export interface BackupSummary {
  bytes: number;
  jobs: number;
  /** Those whose positions count. */
  modelDays: number;
  positions: number;
  bars: number;
}

/**
 * Copies the current state of a database into a new file; others may write meanwhile. The copy is made under another name,
 * checked, and flushed to the disk before it gets its own, so `target` is a complete database or missing. It is never
 * overwritten. Copies that killed backups left in that folder are removed first. Throws a `ServiceError` (`cannot_start`)
 * that says why there is no copy, or the signal's reason; then nothing is left of it.
 */
export async function backupDatabase(
  path: string,
  target: string,
  { onProgress = () => {}, signal }: { onProgress?: (share: number) => void; signal?: AbortSignal } = {},
): Promise<BackupSummary> {
  let partial: Partial | undefined;
  try {
    const copy = await withSnapshot(path, async (snapshot) => {
      if (existsSync(target)) throw refusal(target, 'there is such a file already');
      if (!existsSync(dirname(target))) throw refusal(target, `there is no folder ${dirname(target)}`);
      removeAbandonedPartials(dirname(target));
      partial = beginPartial(target);
      await snapshot.copyTo(partial.path, (share) => {
        signal?.throwIfAborted(); // between two steps, when nothing is being written
        onProgress(share);
      });
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

/** Makes the copy a single file, checks it and flushes it to the disk. */
function seal(partial: string): BackupSummary {
  const copy = new DatabaseSync(partial);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
    const [row] = copy.prepare('PRAGMA integrity_check(1)').all();
    if (row?.['integrity_check'] !== 'ok')
      throw new Error(`the database is damaged, as check tells: ${row?.['integrity_check']}`);
    const count = (rows: string) => Number(copy.prepare(`SELECT count(*) AS count FROM ${rows}`).get()?.['count']);
    return {
      bytes: statSync(partial).size,
      jobs: count('jobs'),
      modelDays: count(`trading_sessions WHERE status = 'active'`),
      positions: count('positions'),
      bars: count('price_data'),
    };
  } finally {
    copy.close();
    flush(partial);
  }
}

/** A link, unlike a rename, fails when the name is taken. Some file systems know no links. */
function giveName(partial: string, target: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    if (existsSync(target)) throw refusal(target, 'there is such a file already', error);
    renameSync(partial, target);
  }
  flushFolder(dirname(target));
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Flushes the new name to the disk; systems that cannot do that for a folder do it by themselves. */
function flushFolder(folder: string): void {
  try {
    const entry = openSync(folder, 'r');
    fsyncSync(entry);
    closeSync(entry);
  } catch {
    // The file itself is on the disk already.
  }
}

function refusal(target: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot back up to ${target}: ${why}`, { cause });
}
