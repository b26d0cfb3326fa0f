import { basename, join } from 'node:path';
import { existsSync } from 'node:fs';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { backupDatabase, type BackupSummary, restoreDatabase } from './backup.ts';
import { type Watched, formatSize, writeWithProgress } from '#commands/terminal.ts';
import type { Reader } from '#database/database.ts';
import { readRiskFreeRate } from '#database/state.ts';
import {
  formerNames,
  type Opening,
  outsideStarts,
  type OutsideStart,
  type JobRows,
  keepJob,
  newestJobs,
  symbolsOfJob,
} from './package-queries.ts';
import { exchangesBetween } from '#database/exchanges.ts';
import { loadJob, statusOfJob } from '#database/job-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { ledgerDays } from '../performance/queries.ts';
import { readInitialCash } from '../performance/run-queries.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { ServiceError } from '#domain/service-error.ts';
import { measureTrading } from '../performance/trading.ts';
import { didYouMean, plural } from '#text/sentences.ts';
import { timestamp } from '#time/calendar.ts';
import { makeFolder } from '#database/storage/files.ts';
import { readSettings, type Settings } from '#settings/settings.ts';
import { findDatabase, resetNote } from '#commands/arguments.ts';
import { claimOwnership } from '#database/storage/owner.ts';
import { forTerminal } from '#text/text.ts';

/**
 * Writes one job of a database, with all that its results rest on, into a new file, which `check`
 * and `view` take like any database: docs/guides/verify.md lists what is in it. It has the risk-free rate
 * with which a service last served the database or, where none has, the given one. The rest is as
 * for `backupDatabase`.
 */
export async function packageJob(
  {
    path,
    jobId,
    target,
    riskFreeRate = 0,
  }: { path: string; jobId: string; target: string; riskFreeRate?: number },
  watched: Watched = {},
): Promise<BackupSummary> {
  await withSnapshot(path, (snapshot) => assertEnded(snapshot, jobId));
  const readRows = (copy: Reader) => readJobRows(copy, jobId, riskFreeRate);
  const edit = (copy: string) => keepJob(copy, readRows, () => watched.signal?.throwIfAborted());
  return backupDatabase(path, target, { ...watched, edit });
}

/** An unfinished job would be resumed by a service that is started on the file. */
function assertEnded(reader: Reader, jobId: string): void {
  const status = statusOfJob(reader, jobId);
  if (status === null) {
    const meant = didYouMean(jobId, newestJobs(reader), 'GET /jobs lists its jobs');
    throw refusal(jobId, `there is no such job in ${reader.path}; ${meant}`);
  }
  if (status === 'pending' || status === 'downloading_data' || status === 'running')
    throw refusal(jobId, `it is ${status}; wait for its end, or cancel it`);
}

function refusal(jobId: string, why: string): ServiceError {
  return new ServiceError('cannot_start', `Cannot back up job ${jobId}: ${why}`);
}

function readJobRows(reader: Reader, jobId: string, riskFreeRate: number): JobRows {
  const openings = outsideStarts(reader, jobId).map((start) => readOpening(reader, start));
  const { stock_symbols: universe, market } = parseAgentConfiguration(
    loadJob(reader, jobId).agentConfig,
  );
  // With the default benchmark, so that the figures are those of the service.
  const symbols = new Set([...universe, ...symbolsOfJob(reader, jobId), market.benchmark]);
  const always = { after: '', upTo: '~' };
  for (const { into } of exchangesBetween(latestPrices(reader), [...symbols], always))
    symbols.add(into);
  for (const name of formerNames(reader, [...symbols])) symbols.add(name);
  const rate = readRiskFreeRate(reader) ?? riskFreeRate;
  return { jobId, openings, symbols: [...symbols].sort(), riskFreeRate: rate };
}

/** The costs of what it holds follow from all earlier days, which the package does not have. */
function readOpening(reader: Reader, { sessionId, model }: OutsideStart): Opening {
  const ledger = ledgerDays(reader, [sessionId]);
  const { book } = measureTrading(ledger, new Set([sessionId]));
  const lots = [...book].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    sessionId,
    initialCash: readInitialCash(reader, [model]).get(model) ?? null,
    lots: lots.flatMap(([symbol, own]) => own.map((lot) => ({ symbol, ...lot }))),
  };
}

/**
 * The command `backup [--job JOB-ID] [FILE]`: copies the database, or one job of it, while the
 * service runs. 0 when the copy was made, otherwise 1.
 */
export async function backup(
  file: string | undefined,
  { job: jobId }: { job: string | undefined },
): Promise<number> {
  const settings = readSettings(process.env);
  const path = findDatabase(settings);
  const target = file ?? defaultTarget(settings);
  const { riskFreeRate } = settings;
  return writeWithProgress(target, async (watched) => {
    const summary =
      jobId === undefined
        ? await backupDatabase(path, target, watched)
        : await packageJob({ path, jobId, target, riskFreeRate }, watched);
    return describeCopy(target, summary);
  });
}

/** A copied database, and what is in it. */
function describeCopy(
  path: string,
  { bytes, jobs, modelDays, positions, bars }: BackupSummary,
): string {
  return (
    `${forTerminal(path)}: ${formatSize(bytes)}, ${plural(jobs, 'job')}, ${plural(modelDays, 'model-day')}, ` +
    `${plural(positions, 'position')}, ${plural(bars, 'price bar')}\n`
  );
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
  const { databasePath: path, deploymentMode } = settings;
  if (!existsSync(file)) throw new ServiceError('storage_fault', `There is no database ${file}`);
  return writeWithProgress(path, async (watched) => {
    const claim = { startedAt: timestamp(new Date()), purpose: `restore ${path}` };
    const ownership = claimOwnership(path, claim);
    try {
      const { aside, ...summary } = await restoreDatabase(path, file, watched);
      const before =
        aside === null ? 'there was no database before' : `the database before is ${aside}`;
      const source = `restored from ${file} (DEPLOYMENT_MODE=${deploymentMode}); ${before}`;
      return `${describeCopy(path, summary)}  ${forTerminal(source)}\n${resetNote(settings)}`;
    } finally {
      ownership.release();
    }
  });
}
