import { parseAgentConfiguration, universeOf } from '../basics/configuration.ts';
import { type BackupSummary, stoppable, type Watched, writeCopy } from '../database/backup.ts';
import { riskFreeRateOf } from '../database/state.ts';
import { type Opening, type OutsideStart, outsideStarts } from '../database/active-days.ts';
import {
  copyRows,
  type JobRows,
  makePackage,
  newestJobs,
  type PackagedJob,
  packagedJob,
  symbolsOfJob,
} from '../database/package.ts';
import { ledgerDays } from '../database/records/performance.ts';
import { initialCashOf } from '../database/records/models.ts';
import type { Snapshot } from '../database/snapshot.ts';
import { ServiceError } from '../basics/domain.ts';
import { DEFAULT_SYMBOL } from '../performance/choose-benchmark.ts';
import { tradingOf } from '../performance/trading.ts';
import { didYouMean } from '../basics/sentences.ts';
import { bySlices } from '../basics/turns.ts';

/**
 * Writes one job of a database, with all that its results rest on, into a new file, which `check`
 * and `view` take like any database: docs/verify.md lists what is in it. It has the risk-free rate
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
  const onStep = stoppable(watched);
  const fill = async (snapshot: Snapshot, partial: string) => {
    const rows = rowsOf(snapshot, endedJob(snapshot, jobId), riskFreeRate);
    await bySlices(makePackage(partial, snapshot, (file) => copyRows(file, rows, onStep)));
  };
  return writeCopy({ path, target, fill }, watched);
}

/** An unfinished job would be resumed by a service that is started on the file. */
function endedJob(snapshot: Snapshot, jobId: string): PackagedJob {
  const job = packagedJob(snapshot, jobId);
  if (job === undefined) {
    const meant = didYouMean(jobId, newestJobs(snapshot), 'GET /jobs lists its jobs');
    throw refusal(jobId, `there is no such job in ${snapshot.path}; ${meant}`);
  }
  const { status } = job;
  if (status === 'pending' || status === 'downloading_data' || status === 'running')
    throw refusal(jobId, `it is ${status}; wait for its end, or cancel it`);
  return job;
}

function refusal(jobId: string, why: string): ServiceError {
  return new ServiceError('cannot_start', `Cannot back up job ${jobId}: ${why}`);
}

function rowsOf(
  snapshot: Snapshot,
  { jobId, endDate, agentConfig }: PackagedJob,
  riskFreeRate: number,
): JobRows {
  const openings: Opening[] = [];
  for (const start of outsideStarts(snapshot, jobId)) openings.push(openingOf(snapshot, start));
  const universe = universeOf(parseAgentConfiguration(agentConfig));
  // With the default benchmark, so that the figures are those of the service.
  const symbols = new Set([...universe, ...symbolsOfJob(snapshot, jobId), DEFAULT_SYMBOL]);
  const served = riskFreeRateOf(snapshot) ?? riskFreeRate;
  return { jobId, openings, symbols: [...symbols].sort(), lastDate: endDate, riskFreeRate: served };
}

/** The costs of what it holds follow from all earlier days, which the package does not have. */
function openingOf(snapshot: Snapshot, { sessionId, model, startedFrom }: OutsideStart): Opening {
  const ledger = ledgerDays(snapshot, new Map([[sessionId, startedFrom]]));
  const { book } = tradingOf(ledger, new Set([sessionId]));
  const lots = [...book].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    sessionId,
    initialCash: initialCashOf(snapshot, [model]).get(model) ?? null,
    lots: lots.flatMap(([symbol, own]) => own.map((lot) => ({ symbol, ...lot }))),
  };
}
