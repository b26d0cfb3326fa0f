import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bySlices } from '../turns.ts';
import { openDatabase } from './database.ts';
import { FIRST_WITH_MANIFEST, checkManifest } from './manifest.ts';
import { newestVersion } from './schema.ts';
import { withSnapshot } from './snapshot.ts';

const COPY = 'jobs.db';

/** A file of an older version, which is read as a migrated copy. */
export interface Older {
  version: number;
  /** How it differs from its manifest, which names the columns of its own version. */
  damage: string[];
}

/**
 * Works on a database that has this program's schema: the file itself, or a migrated copy of a file
 * of an older version, which is in the system's folder for temporary files until the work is done.
 * The file itself is never changed.
 */
export async function withNewestSchema<Result>(
  path: string,
  work: (path: string, older: Older | null) => Promise<Result>,
): Promise<Result> {
  let folder: string | undefined;
  const remove = () => folder !== undefined && rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove); // also when a signal ends the work
  try {
    const older = await withSnapshot(
      path,
      async (snapshot): Promise<Older | null> => {
        if (snapshot.version === newestVersion) return null;
        const damage =
          snapshot.version < FIRST_WITH_MANIFEST ? [] : await bySlices(checkManifest(snapshot));
        folder ??= mkdtempSync(join(tmpdir(), 'tss-'));
        await snapshot.copyTo(join(folder, COPY), () => {});
        return { version: snapshot.version, damage };
      },
      { anyVersion: true },
    );
    if (older === null || folder === undefined) return await work(path, null);
    const copy = join(folder, COPY);
    openDatabase(copy).close(); // migrates it, and removes its manifest
    return await work(copy, older);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
