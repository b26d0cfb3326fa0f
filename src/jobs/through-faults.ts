import { setTimeout as sleep } from 'node:timers/promises';
import { storageFaultOf } from '../database/storage/faults.ts';
import { endedModelDays, returnToPending } from '../database/model-days.ts';
import { addWarnings } from '../database/jobs.ts';
import { count } from '../basics/sentences.ts';
import type { WorkerContext } from './active-job.ts';
import { endJob, runJob } from './run.ts';

/** How often to retry while the database cannot be written. */
const RETRY_MS = 1_000;
/**
 * A job with this many faults in a row and no model-day ended in between is failed: its model-days
 * may cost money.
 */
const MAX_FRUITLESS_ATTEMPTS = 5;

/**
 * Works a job to its end through storage faults. A full disk is not a model's mistake: the job
 * waits until the database can be written again and then continues as after a restart, with
 * everything that was committed. When the signal stops it, it continues at the next start. With
 * `givenUp`, a reason, it only ends.
 */
export async function runThroughFaults(
  context: WorkerContext,
  jobId: string,
  {
    signal,
    givenUp = null,
    retryMs = RETRY_MS,
  }: { signal: AbortSignal; givenUp?: string | null; retryMs?: number },
): Promise<void> {
  let fault: string | null = null;
  let ended = -1;
  let fruitless = 0;
  for (;;) {
    try {
      if (fault !== null) await resume(context, jobId, { fault, signal, retryMs });
      const endedNow = endedModelDays(context.database, jobId);
      fruitless = endedNow > ended ? 0 : fruitless + 1;
      ended = endedNow;
      const isFruitless = fault !== null && fruitless >= MAX_FRUITLESS_ATTEMPTS;
      const error = isFruitless ? `${fault}, ${MAX_FRUITLESS_ATTEMPTS} times in a row` : givenUp;
      if (error === null) await runJob(context, jobId, signal);
      else await endJob(context, jobId, { error, signal });
      return;
    } catch (error) {
      if (signal.aborted) return;
      fault = storageFaultOf(error);
      if (fault === null) throw error;
      context.log.error('the job waits until the database can be written', { jobId, fault });
    }
  }
}

/**
 * Waits until the database can be written, then leaves the job in the state in which a restart
 * would find it.
 */
async function resume(
  { database, log }: WorkerContext,
  jobId: string,
  { fault, signal, retryMs }: { fault: string; signal: AbortSignal; retryMs: number },
): Promise<void> {
  const since = performance.now();
  do await sleep(retryMs, undefined, { signal });
  while (database.probe() !== null);
  const seconds = Math.round((performance.now() - since) / 1000);
  await database.write(
    () => {
      returnToPending(database, jobId);
      addWarnings(database, jobId, [`Waited ${count(seconds, 'second')}: ${fault}`]);
    },
    { signal },
  );
  log.info('job resumed', { jobId, seconds });
}
