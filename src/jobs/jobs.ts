import { dateOf, timestamp } from '../calendar.ts';
import type { AgentConfiguration } from '../configuration-schema.ts';
import { agentConfigurationFor, readConfiguration } from '../configuration.ts';
import { insertJob, unfinishedJobId } from '../database/jobs.ts';
import { noteRestart } from '../database/restarts.ts';
import { firstActiveDate, lastActiveDate } from '../database/active-days.ts';
import { ServiceError } from '../domain.ts';
import { type Entry, encodeEntry } from '../entry.ts';
import { logUnexpected } from '../log.ts';
import { count } from '../sentences.ts';
import { bySlices, mapInSteps } from '../turns.ts';
import type { WorkerContext } from '../worker/context.ts';
import { resolveEntry } from '../worker/entries.ts';
import { endJob, warnOfStale } from '../worker/worker.ts';
import { cancelJob } from './cancel.ts';
import { type ModelRun, expandModels, warnOfNewRuns } from './expand-models.ts';
import { rememberSubmission, submittedBefore } from './idempotency.ts';
import { resolveRange } from './range.ts';
import type { JobRequest, SubmittedJob } from './submission.ts';
import { runThroughFaults } from './through-faults.ts';

/** After this many restarts in a row without progress a job is given up: it may be what ends the process. */
const MAX_IDLE_RESTARTS = 10;

/** Entries that are resolved and encoded without a pause: some milliseconds. */
const ENTRIES_PER_STEP = 100;

/** The jobs of the service: one at a time, run in the background. */
export interface Jobs {
  /**
   * Creates a job and starts its worker after the caller's turn of the event loop; with an idempotency key that was used
   * before, returns that job again. Rejects with a `ServiceError` when the job must not be created.
   */
  submit(request: JobRequest, idempotencyKey?: string): Promise<SubmittedJob>;
  /**
   * Stops an unfinished job and its children; completed model-days are kept. Returns how many model-days were not run, null
   * for a job that was already cancelled. Throws a `ServiceError` for an unknown job or one that has ended.
   */
  cancel(jobId: string): Promise<number | null>;
  /** Resumes the unfinished job of an earlier process, if there is one. */
  resume(): Promise<void>;
  /** Stops the worker and its children; the job stays resumable. Resolves when all of them have exited. */
  stop(): Promise<void>;
}

export function createJobs(context: WorkerContext): Jobs {
  const { database, log } = context;
  let current = new AbortController();
  let isStopping = false;
  let working: Promise<void> = Promise.resolve();
  const start = (jobId: string) => {
    if (isStopping) return;
    const { signal } = (current = new AbortController());
    const run = async () => {
      if (unfinishedJobId(database) === jobId && !signal.aborted) await runThroughFaults(context, jobId, { signal });
    };
    // After the previous job, whose children may still be exiting.
    working = working.then(run).catch((error: unknown) => {
      logUnexpected(log, error, { jobId, consequence: 'the job continues at the next start' });
    });
  };
  const stopAndCancel = async (jobId: string) => {
    let isBegun = false;
    const onBegun = () => {
      isBegun = true;
      current.abort('Cancelled');
    };
    const cancelling = cancelJob(context, jobId, { onBegun });
    working = Promise.allSettled([working, cancelling]).then(() => {}); // the end of the service waits for it
    try {
      return await cancelling;
    } catch (error) {
      if (isBegun) {
        current.abort('Cancelled'); // a worker that was to start meanwhile
        start(jobId); // it waits until the database can be written, and cancels the rest
      }
      throw error;
    }
  };
  return {
    async submit(request, idempotencyKey) {
      const { job, isNew } = await submitOnce(context, request, { idempotencyKey });
      if (isNew) {
        log.info('job created', { jobId: job.jobId, totalModelDays: job.totalModelDays });
        setImmediate(start, job.jobId);
      } else log.info('trigger repeated under its Idempotency-Key', { jobId: job.jobId });
      return job;
    },
    async cancel(jobId) {
      const notRun = await stopAndCancel(jobId);
      if (notRun === null) return null;
      log.info('job cancelled', { jobId, notRun });
      // Only now, because reading years of model-days takes a while, and the job must stop first.
      await warnOfStale(context, jobId);
      return notRun;
    },
    async resume() {
      const { signal } = current;
      const jobId = unfinishedJobId(database);
      if (jobId === null) return;
      const idleRestarts = await noteRestart(database, jobId);
      log.info('job resumed', { jobId, idleRestarts });
      if (idleRestarts < MAX_IDLE_RESTARTS) return start(jobId);
      await giveUp(context, jobId, { idleRestarts, signal });
    },
    async stop() {
      isStopping = true;
      current.abort('The service is stopping');
      await working;
    },
  };
}

/** Fails a job that restarts do not help. Requests are answered already, and one may cancel it meanwhile. */
async function giveUp(
  context: WorkerContext,
  jobId: string,
  { idleRestarts, signal }: { idleRestarts: number; signal: AbortSignal },
): Promise<void> {
  const error = `Given up after ${idleRestarts} restarts in a row without progress`;
  try {
    await endJob(context, jobId, { error, signal });
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

/** A run and what it asks, which is stored with it: the job runs from that, whatever becomes of the file. */
interface ResolvedRun extends ModelRun {
  entry: Entry;
  encoded: string;
}

interface Submission {
  job: SubmittedJob;
  isNew: boolean;
}

/** The job created earlier under the same key, which is found without the write lock; otherwise a new one. */
async function submitOnce(
  context: WorkerContext,
  request: JobRequest,
  { idempotencyKey }: { idempotencyKey: string | undefined },
): Promise<Submission> {
  const findEarlier = () =>
    idempotencyKey === undefined ? null : submittedBefore(context.database, idempotencyKey, request);
  const earlier = findEarlier();
  if (earlier !== null) return { job: earlier, isNew: false };
  const { settings } = context;
  const configuration = readConfiguration(settings.configurationPath);
  const resolve = (run: ModelRun): ResolvedRun => {
    const entry = resolveEntry(run, { configuration, settings });
    return { ...run, entry, encoded: encodeEntry(entry) };
  };
  const models = await bySlices(mapInSteps(expandModels(request.models, configuration), resolve, ENTRIES_PER_STEP));
  const agentConfig = agentConfigurationFor(configuration, request.universe);
  return context.database.write(() => {
    const meanwhile = findEarlier();
    if (meanwhile !== null) return { job: meanwhile, isNew: false };
    return { job: create(context, request, { models, agentConfig, idempotencyKey }), isNew: true };
  });
}

/** The trigger's rules in order; within the caller's transaction, so that no other job is created meanwhile. */
function create(
  { database, clock, settings }: WorkerContext,
  request: JobRequest,
  {
    models,
    agentConfig,
    idempotencyKey,
  }: { models: readonly ResolvedRun[]; agentConfig: AgentConfiguration; idempotencyKey: string | undefined },
): SubmittedJob {
  const now = clock();
  const { startDate, dates, runs } = resolveRange(
    { ...request, models: models.map(({ model }) => model) },
    {
      ...factsOf(database),
      today: dateOf(now),
      maxSimulationDays: settings.maxSimulationDays,
    },
  );
  const other = unfinishedJobId(database);
  if (other !== null)
    throw new ServiceError('another_job_unfinished', `Another simulation job is already running or pending: ${other}`);
  const jobId = crypto.randomUUID();
  const warnings = [
    ...warnOfUnlisted(models),
    ...(request.startDate === null ? warnOfNewRuns(models, request.endDate, factsOf(database)) : []),
  ];
  const stored = models.map(({ family, encoded }) => ({ family, entry: encoded }));
  insertJob(database, {
    ...request,
    jobId,
    startDate,
    dates,
    runs: runs.map((run, index) => ({ ...run, ...stored[index] })),
    agentConfig,
    deploymentMode: settings.deploymentMode,
    createdAt: timestamp(now),
    warnings,
  });
  const mode = request.startDate === null ? ' (resume mode)' : '';
  const job = {
    jobId,
    totalModelDays: dates.length * models.length,
    message: `Simulation job created for ${dates.length} dates, ${models.length} models${mode}`,
    warnings,
  };
  if (idempotencyKey !== undefined) rememberSubmission(database, idempotencyKey, { request, job });
  return job;
}

function factsOf(database: WorkerContext['database']) {
  return {
    simulatedThrough: (model: string) => lastActiveDate(database, model),
    simulatedFrom: (model: string) => firstActiveDate(database, model),
  };
}

/** Models that are named one by one because the configuration does not list them. */
const MAX_UNLISTED = 5;

/** A warning for each of the first unlisted models, one for the others: thousands would hide all other warnings. */
function warnOfUnlisted(runs: readonly ResolvedRun[]): string[] {
  const unlisted = runs.filter(({ entry }) => entry.kind === 'unlisted');
  const others = unlisted.splice(MAX_UNLISTED);
  const warnings = unlisted.map(({ model }) => `Model '${model}' is not in the server configuration; its model-days will fail`);
  if (others.length === 0) return warnings;
  const [are, their] = others.length === 1 ? ['is', 'its'] : ['are', 'their'];
  return [...warnings, `${count(others.length, 'more model')} ${are} not in the server configuration; ${their} model-days will fail`];
}
