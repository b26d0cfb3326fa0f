import { basename, join } from 'node:path';
import { timestamp } from '../calendar.ts';
import { backupDatabase } from '../database/backup.ts';
import { makeFolder } from '../database/storage/folder.ts';
import { type Settings, readSettings } from '../settings.ts';
import { ownDatabase } from './own-database.ts';
import { writeStoppably } from './stoppable.ts';
import { describeCopy } from './words.ts';

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
