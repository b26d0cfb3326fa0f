import { existsSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { ServiceError, messageOf } from '../domain.ts';
import { bySlices } from '../turns.ts';
import { type BackupSummary, type Watched, seal, stoppable } from './backup.ts';
import { examineDatabase } from './integrity.ts';
import { checkManifest } from './manifest.ts';
import { withNewestSchema } from './newest-schema.ts';
import { withSnapshot } from './snapshot.ts';
import { realPathOf } from './storage/file.ts';
import { makeFolder } from './storage/folder.ts';
import { flush } from './storage/new-file.ts';
import { beginPartial, removeAbandonedPartials } from './storage/partial.ts';
import { asideName, finishRestore, isFreeAside, makeReady } from './storage/restoring.ts';

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
    throw refusal(path, `${file} is that database itself`);
  makeFolder(dirname(place));
  removeAbandonedPartials(dirname(place));
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
    throw refusal(path, messageOf(error), error);
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

function refusal(path: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('cannot_start', `Cannot restore ${path}: ${why}`, { cause });
}
