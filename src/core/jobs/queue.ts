import { steadyClock, timestamp } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import {
  insertJob,
  lastStartTime,
  rememberTrigger,
  findTrigger,
  unfinishedJobId,
  addWarnings,
  endJob as endStoredJob,
  statusOfJob,
  discard,
} from '#database/job-queries.ts';
import { sha256 } from '#text/hash.ts';
import { ServiceError } from '#domain/service-error.ts';
import { skipReasons } from '#domain/vocabulary.ts';
import { logUnexpected } from '#process/log.ts';
import type { WorkerContext } from './active-job.ts';
import { type JobRequest, planJob, assertNoUnfinishedJob } from './plan.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { findStorageFault } from '#database/storage/faults.ts';
import { endModelDays, recordRestart } from '#database/model-days.ts';
import { count } from '#text/sentences.ts';
import { finishJob, runJob, addModelDayWarnings } from './run.ts';
import { createWebhook, noteEnd } from './webhook.ts';

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
      else await finishJob(context, jobId, { error, signal });
      return;
    } catch (error) {
      if (signal.aborted) return;
      fault = findStorageFault(error);
      if (fault === null) throw error;
      context.log.error('the job waits until the database can be written', { jobId, fault });
    }
  }
}

/**
 * Continues a job that a process or a storage fault has interrupted, after a fault once the
 * database can be written. Resolves to why the job is given up; null when it continues.
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
      return recordRestart(database, jobId, { counts: fault !== null });
    },
    { signal },
  );
  log.info('job resumed', { jobId, idleRestarts });
  if (idleRestarts < MAX_IDLE_RESTARTS) return null;
  const reason = `Stopped: the job was restarted ${MAX_IDLE_RESTARTS} times in a row without progress`;
  return `${reason}${fault === null ? '. See the log' : `: ${fault}. Solve this`}, then trigger it again`;
}

/**
 * Cancels a job in one transaction; completed model-days are kept. Resolves to how many were not
 * run; null for a job that was already cancelled. Rejects with a `ServiceError` for an unknown job
 * or one that has ended.
 */
export function cancelJob(context: WorkerContext, jobId: string): Promise<number | null> {
  const { database, clock } = context;
  return database.write(() => {
    const status = statusOfJob(database, jobId);
    if (status === null) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
    if (status === 'cancelled') return null;
    if (unfinishedJobId(database) !== jobId)
      throw new ServiceError('job_conflict', `Cannot cancel job ${jobId}: its status is ${status}`);
    const at = timestamp(clock());
    const notRun = endModelDays(database, jobId, {
      status: 'skipped',
      error: skipReasons.cancelled,
      at,
    });
    endStoredJob(database, jobId, { status: 'cancelled', error: null, at });
    addModelDayWarnings(database, jobId);
    noteEnd(context, jobId);
    return notRun;
  });
}

/**
 * Discards a job in one transaction, and names what is stale then in its warnings. Resolves to null
 * for a job that was already discarded. Rejects with a `ServiceError` while any job is unfinished:
 * what that one skips, and where its model-days start, rests on what there is.
 */
export async function discardJob(
  { database, log }: Pick<WorkerContext, 'database' | 'log'>,
  jobId: string,
) {
  const discarded = await database.write(() => {
    if (statusOfJob(database, jobId) === 'discarded') return null;
    const unfinished = unfinishedJobId(database);
    if (unfinished !== null)
      throw new ServiceError(
        'job_conflict',
        `Cannot discard job ${jobId}: job ${unfinished} is unfinished; cancel that job, or wait for its end`,
      );
    const changed = discard(database, jobId);
    return { ...changed, stale: addModelDayWarnings(database, jobId) };
  });
  if (discarded !== null) log.info('job discarded', { jobId, ...discarded });
  return discarded;
}

/** The jobs of the service: one at a time, run in the background. */
export type JobQueue = ReturnType<typeof createJobQueue>;

export function createJobQueue(context: WorkerContext) {
  const { database, log } = context;
  const webhook = createWebhook(context);
  let current = new AbortController();
  let isStopping = false;
  let working: Promise<void> = Promise.resolve();
  const start = (jobId: string, isRestart = false) => {
    if (isStopping) return;
    const { signal } = (current = new AbortController());
    const run = async () => {
      if (unfinishedJobId(database) !== jobId || signal.aborted) return;
      const { clock } = context;
      context.clock = steadyClock(clock, lastStartTime(database, jobId)); // nothing ends before it began
      await runThroughFaults(context, jobId, { signal, isRestart }).finally(
        () => (context.clock = clock),
      );
      webhook.send();
    };
    // After the previous job, whose children may still be exiting.
    working = working.then(run).catch((error: unknown) => {
      logUnexpected(log, error, { jobId, consequence: 'the job continues at the next start' });
    });
  };
  return {
    /**
     * Creates a job and starts its worker after the caller's turn of the event loop; with an
     * idempotency key that was used before, returns that job again. Rejects with a `ServiceError`
     * when the job must not be created.
     */
    async submit(request: JobRequest, idempotencyKey?: string) {
      const { job, isNew } = await submitJob(context, request, idempotencyKey);
      if (isNew) {
        log.info('job created', { jobId: job.jobId, totalModelDays: job.totalModelDays });
        setImmediate(start, job.jobId);
      } else log.info('trigger repeated under its Idempotency-Key', { jobId: job.jobId });
      return job;
    },
    /**
     * Stops an unfinished job and its children; completed model-days are kept. Resolves to how many
     * model-days were not run, null for a job that was already cancelled. Rejects with a
     * `ServiceError` for an unknown job or one that has ended.
     */
    async cancel(jobId: string) {
      const notRun = await cancelJob(context, jobId);
      if (notRun === null) return null;
      current.abort('Cancelled');
      log.info('job cancelled', { jobId, notRun });
      webhook.send();
      return notRun;
    },
    /** Resumes the unfinished job of an earlier process, and announces what that did not. */
    resume() {
      webhook.send();
      const jobId = unfinishedJobId(database);
      if (jobId !== null) start(jobId, true);
    },
    /**
     * Stops the worker, its children and announcements; the job stays resumable. Resolves when all
     * of them have ended.
     */
    async stop() {
      isStopping = true;
      current.abort('The service is stopping');
      await Promise.all([working, webhook.stop()]);
    },
  };
}

/** The created job as the response to a trigger shows it, and whether this trigger created it. */
type Submitted = NonNullable<ReturnType<typeof createJob>>;

/**
 * What was answered before, and what a job is to be, is read without the write lock. Where days
 * have been completed or withdrawn until that is there, the job is planned again.
 */
async function submitJob(
  context: WorkerContext,
  request: JobRequest,
  idempotencyKey: string | undefined,
): Promise<Submitted> {
  const { database } = context;
  const findEarlier = () => findRepeatedTrigger(database, idempotencyKey, request);
  let submitted = findEarlier();
  while (submitted === null) {
    const plan = planJob(context, request);
    const make = () => createJob(context, request, { plan, idempotencyKey });
    submitted = await database.write(() => findEarlier() ?? make());
  }
  return submitted;
}

/**
 * Creates the planned job, within the caller's transaction, so that no other job is created
 * meanwhile; null for a plan that no longer holds. Throws a `ServiceError` while there is another.
 */
function createJob(
  { database, clock, settings }: WorkerContext,
  request: JobRequest,
  {
    plan,
    idempotencyKey,
  }: { plan: ReturnType<typeof planJob>; idempotencyKey?: string | undefined },
) {
  assertNoUnfinishedJob(database);
  if (!plan.isCurrent()) return null;
  const jobId = crypto.randomUUID();
  insertJob(database, {
    ...request,
    ...plan,
    jobId,
    deploymentMode: settings.deploymentMode,
    createdAt: timestamp(clock()),
  });
  const { dates, runs, warnings, study } = plan;
  const mode = request.startDate === null ? ' (resume mode)' : '';
  const job = {
    jobId,
    totalModelDays: dates.length * runs.length,
    study,
    message: `Simulation job created for ${dates.length} dates, ${runs.length} models${mode}`,
    warnings,
  };
  if (idempotencyKey !== undefined) {
    const [requestHash, answer] = [hashRequest(request), JSON.stringify(job)];
    rememberTrigger(database, idempotencyKey, { jobId, requestHash, answer });
  }
  return { job, isNew: true };
}

/**
 * The job that an earlier trigger with this key created, with its original response; null for a new
 * key. Throws a `ServiceError` (`key_reused`) when that trigger was a different request.
 */
function findRepeatedTrigger(
  database: Database,
  key: string | undefined,
  request: JobRequest,
): Submitted | null {
  if (key === undefined) return null;
  const earlier = findTrigger(database, key);
  if (earlier === undefined) return null;
  if (earlier.requestHash === hashRequest(request))
    return { job: JSON.parse(earlier.answer), isNew: false };
  throw new ServiceError(
    'key_reused',
    `Idempotency-Key: another request with this key created job ${earlier.jobId}; a new request needs a new key`,
  );
}

/**
 * Two requests are the same when they mean the same, however they are written. Without the fields
 * that came later it is what it was before them.
 */
export function hashRequest({
  startDate,
  endDate,
  models,
  replaceExisting,
  universe,
  study,
  changeTerms,
  termsOf,
}: JobRequest): string {
  const later = [study || null, changeTerms, termsOf].map((value) => value ?? null);
  const parts = [startDate, endDate, models, replaceExisting, universe];
  if (later.some((value) => value !== null)) parts.push(...later);
  return sha256(JSON.stringify(parts)).toString('hex');
}
