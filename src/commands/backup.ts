import { basename, join } from 'node:path';
import { existsSync } from 'node:fs';
import { timestamp } from '../basics/calendar.ts';
import { backupDatabase, restoreDatabase } from '../database/backup.ts';
import { makeFolder } from '../database/storage/files.ts';
import { readSettings, type Settings } from '../basics/settings.ts';
import { ownDatabase, resetNote } from './own-database.ts';
import { describeCopy, writeStoppably } from './terminal.ts';
import { claimOwnership } from '../database/storage/owner.ts';
import { finishRestore } from '../database/storage/restoring.ts';
import { ServiceError } from '../basics/domain.ts';
import { forTerminal } from '../basics/text.ts';

/**
 * The command `backup [--job JOB-ID] [FILE]`: copies the database, or one job of it, while the
 * service runs. 0 when the copy was made, otherwise 1.
 */
export async function backup(
  file: string | undefined,
  { job: jobId }: { job: string | undefined },
): Promise<number> {
  const settings = readSettings(process.env);
  const path = ownDatabase(settings);
  const target = file ?? defaultTarget(settings);
  return writeStoppably(target, async (watched) => {
    if (jobId === undefined)
      return describeCopy(target, await backupDatabase(path, target, watched));
    const { packageJob } = await import('../packaging/package.ts');
    return describeCopy(
      target,
      await packageJob({ path, jobId, target, riskFreeRate: settings.riskFreeRate }, watched),
    );
  });
}

/** Beside the database, named after the time. */
function defaultTarget({ agentDataPath, databasePath }: Settings): string {
  makeFolder(agentDataPath);
  const name = basename(databasePath, '.db');
  return join(agentDataPath, `${name}-${timestamp(new Date()).replaceAll(':', '-')}.db`);
}

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
