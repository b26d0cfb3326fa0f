import { existsSync } from 'node:fs';
import { timestamp } from '../calendar.ts';
import { restoreDatabase } from '../database/restore.ts';
import { claimOwnership } from '../database/storage/owner.ts';
import { finishRestore } from '../database/storage/restoring.ts';
import { ServiceError } from '../domain.ts';
import { readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { resetNote } from './reset-note.ts';
import { writeStoppably } from './stoppable.ts';
import { describeCopy } from './words.ts';

/**
 * The command `restore FILE`: puts a copy of a backup in the place of the service's own database. 0
 * when it is there, otherwise 1.
 */
export async function restore(file: string): Promise<number> {
  const settings = readSettings(process.env);
  const { databasePath: path, agentDataPath: folder, deploymentMode } = settings;
  if (!existsSync(file)) throw new ServiceError('storage_fault', `There is no database ${file}`);
  return writeStoppably(path, async (watched) => {
    const ownership = claimOwnership(path, {
      folder,
      startedAt: timestamp(new Date()),
      purpose: `restore ${path}`,
    });
    try {
      const earlier = finishRestore(path);
      const { aside, ...summary } = await restoreDatabase(path, file, watched);
      return [
        ...(earlier === undefined
          ? []
          : [`Finished a restore that was interrupted; ${whereIs(earlier)}\n`]),
        describeCopy(path, summary),
        `  restored from ${forTerminal(file)} (DEPLOYMENT_MODE=${deploymentMode}); ${whereIs(aside)}\n`,
        resetNote(settings),
      ].join('');
    } finally {
      ownership.release();
    }
  });
}

function whereIs(aside: string | null): string {
  return aside === null
    ? 'there was no database before'
    : `the database before is ${forTerminal(aside)}`;
}
