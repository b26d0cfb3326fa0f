import { basename, join } from 'node:path';
import { timestamp } from '../calendar.ts';
import { type BackupSummary, backupDatabase } from '../database/backup.ts';
import { makeFolder } from '../database/storage/folder.ts';
import { type Settings, readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { ownDatabase } from './own-database.ts';
import { writeStoppably } from './stoppable.ts';
import { counted, size } from './words.ts';

/**
 * The command `backup [--job JOB-ID] [FILE]`: copies the database, or one job of it, while the service runs. 0 when the copy was
 * made, otherwise 1.
 */
export async function backup(file: string | undefined, { job: jobId }: { job: string | undefined }): Promise<number> {
  const settings = readSettings(process.env);
  const path = ownDatabase(settings);
  const target = file ?? defaultTarget(settings);
  return writeStoppably(target, async (watched) => {
    if (jobId === undefined) return describe(target, await backupDatabase(path, target, watched));
    const { packageJob } = await import('../packaging/package.ts');
    return describe(target, await packageJob({ path, jobId, target, riskFreeRate: settings.riskFreeRate }, watched));
  });
}

function describe(target: string, { bytes, jobs, modelDays, positions, bars }: BackupSummary): string {
  return (
    `${forTerminal(target)}: ${size(bytes)}, ${counted(jobs, 'job')}, ${counted(modelDays, 'model-day')}, ` +
    `${counted(positions, 'position')}, ${counted(bars, 'price bar')}\n`
  );
}

/** Beside the database, named after the time. */
function defaultTarget({ agentDataPath, databasePath }: Settings): string {
  makeFolder(agentDataPath);
  const name = basename(databasePath, '.db');
  return join(agentDataPath, `${name}-${timestamp(new Date()).replaceAll(':', '-')}.db`);
}
