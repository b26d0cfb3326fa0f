import { setTimeout as sleep } from 'node:timers/promises';
import { storageFaultOf } from '../database/storage/faults.ts';
import { noteRestart } from '../database/model-days.ts';
import { addWarnings } from '../database/jobs.ts';
import { count } from '../basics/sentences.ts';
import type { WorkerContext } from './active-job.ts';
import { endJob, runJob } from './run.ts';

/** How often to retry while the database cannot be written. */
const RETRY_MS = 1_000;
/**
 * After this many restarts in a row without progress a job is given up, whether the process ended
 * or the storage failed: the job may be the cause, and its model-days may cost money.
 */
const MAX_IDLE_RESTARTS = 10;

/**
 * Works a job to its end through storage faults. A full disk is not a model's mistake: the job
 * waits until the database can be written again and then continues as after a restart, with
 * everything that was committed. When the signal stops it, it continues at the next start.
 * `isRestart`: an earlier process began it.
 */
export async function runThroughFaults(
  context: WorkerContext,
  jobId: string,
  {
    signal,
    isRestart = false,
    retryMs = RETRY_MS,
  }: { signal: AbortSignal; isRestart?: boolean; retryMs?: number },
): Promise<void> {
  let fault: string | null = null;
  for (;;) {
    try {
      const isFirst = !isRestart && fault === null;
      const error = isFirst ? null : await resume(context, jobId, { fault, signal, retryMs });
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
 * Continues a job that a process or a storage fault has interrupted, after a fault once the database
 * can be written. Resolves to why the job is given up; null when it continues.
 */
async function resume(
  { database, log }: WorkerContext,
  jobId: string,
  { fault, signal, retryMs }: { fault: string | null; signal: AbortSignal; retryMs: number },
): Promise<string | null> {
  const since = performance.now();
  if (fault !== null)
    do await sleep(retryMs, undefined, { signal });
    while (database.probe() !== null);
  const waited = count(Math.round((performance.now() - since) / 1000), 'second');
  const idleRestarts = await database.write(
    () => {
      if (fault !== null) addWarnings(database, jobId, [`Waited ${waited}: ${fault}`]);
      return noteRestart(database, jobId, { counts: fault !== null });
    },
    { signal },
  );
  log.info('job resumed', { jobId, idleRestarts });
  if (idleRestarts < MAX_IDLE_RESTARTS) return null;
  const reason = `Given up after ${MAX_IDLE_RESTARTS} restarts in a row without progress`;
  return fault === null ? reason : `${reason}: ${fault}`;
}
