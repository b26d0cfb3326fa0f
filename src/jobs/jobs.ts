import { type CalendarDate, dateOf, timestamp } from '../calendar.ts';
import { type Configuration, readConfiguration } from '../configuration.ts';
import { insertJob, statusOfJob, unfinishedJobId } from '../database/jobs.ts';
import { noteRestart } from '../database/restarts.ts';
import { lastActiveDate } from '../database/sessions.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import type { WorkerContext } from '../worker/context.ts';
import { cancel, endJob } from '../worker/worker.ts';
import { rememberSubmission, submittedBefore } from './idempotency.ts';
import { resolveRange } from './range.ts';
import { runThroughFaults } from './through-faults.ts';

/** A job that finds no progress at so many restarts in a row is given up: it may be what ends the process. */
const MAX_IDLE_RESTARTS = 10;

export interface JobRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  /** Empty means the enabled models of the server configuration. */
  models: readonly string[];
  replaceExisting: boolean;
}

export interface SubmittedJob {
  jobId: string;
  totalModelDays: number;
  message: string;
  warnings: string[];
}

/** The jobs of the service: one at a time, worked in the background. */
export interface Jobs {
  /**
   * Creates a job and starts its worker after the caller's turn; with an idempotency key that was used before, returns that
   * job again. Throws a `ServiceError` when it must not be created.
   */
  submit(request: JobRequest, idempotencyKey?: string): SubmittedJob;
  /**
   * Stops an unfinished job and its children; what has completed stays. Returns how many model-days were not run, null
   * for a job that was cancelled before. Throws a `ServiceError` for an unknown job or one that has ended.
   */
  cancel(jobId: string): number | null;
  /** Takes up the job that an earlier process left unfinished, if there is one. */
  resume(): void;
  /** Stops the worker and its children; the job stays resumable. Resolves when all of them are gone. */
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
    // After the one before, whose children may still be ending.
    working = working.then(run).catch((error: unknown) => {
      logUnexpected(log, error, { jobId, consequence: 'the job goes on at the next start' });
    });
  };
  return {
    submit(request, idempotencyKey) {
      const earlier = idempotencyKey === undefined ? null : submittedBefore(database, idempotencyKey, request);
      if (earlier !== null) {
        log.info('trigger repeated under its Idempotency-Key', { jobId: earlier.jobId });
        return earlier;
      }
      const job = create(context, request, idempotencyKey);
      log.info('job created', { jobId: job.jobId, totalModelDays: job.totalModelDays });
      setImmediate(start, job.jobId);
      return job;
    },
    cancel(jobId) {
      const status = statusOfJob(database, jobId);
      if (status === null) throw new ServiceError('not_found', `Job ${jobId} not found`);
      if (status === 'cancelled') return null;
      if (unfinishedJobId(database) !== jobId)
        throw new ServiceError('conflict', `Job ${jobId} cannot be cancelled: it is ${status}`);
      const notRun = cancel(context, jobId);
      current.abort('Cancelled');
      return notRun;
    },
    resume() {
      const jobId = unfinishedJobId(database);
      if (jobId === null) return;
      const idleRestarts = noteRestart(database, jobId);
      log.info('job taken up again', { jobId, idleRestarts });
      if (idleRestarts < MAX_IDLE_RESTARTS) return start(jobId);
      endJob(context, jobId, { error: `Given up after ${idleRestarts} restarts in a row without progress` });
    },
    async stop() {
      isStopping = true;
      current.abort('The service is stopping');
      await working;
    },
  };
}

/** The trigger's rules in their order; checking for another job and inserting are one transaction. */
function create(
  { database, clock, settings }: WorkerContext,
  request: JobRequest,
  idempotencyKey?: string,
): SubmittedJob {
  const configuration = readConfiguration(settings.configurationPath);
  const models = chooseModels(request.models, configuration);
  const now = clock();
  return database.transaction(() => {
    const { startDate, dates, runs } = resolveRange(
      { ...request, models },
      {
        simulatedThrough: (model) => lastActiveDate(database, model),
        today: dateOf(now),
        maxSimulationDays: settings.maxSimulationDays,
      },
    );
    const other = unfinishedJobId(database);
    if (other !== null)
      throw new ServiceError('bad_request', `Another simulation job is already running or pending: ${other}`);
    const jobId = crypto.randomUUID();
    const warnings = settings.deploymentMode === 'PROD' ? warnOfUnknownModels(models, configuration) : [];
    insertJob(database, {
      ...request,
      jobId,
      startDate,
      dates,
      runs,
      agentConfig: configuration.agent_config,
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
  });
}

function chooseModels(requested: readonly string[], { models }: Configuration): string[] {
  if (requested.length > 0) return [...new Set(requested)];
  const enabled = models.filter((model) => model.enabled).map(({ signature }) => signature);
  if (enabled.length === 0) {
    throw new ServiceError(
      'bad_request',
      'No models to simulate: the server configuration enables none, and the request names none',
    );
  }
  return enabled;
}

function warnOfUnknownModels(models: readonly string[], configuration: Configuration): string[] {
  const known = new Set(configuration.models.map(({ signature }) => signature));
  return models
    .filter((model) => !known.has(model))
    .map((model) => `Model '${model}' is not in the server configuration; its model-days will fail`);
}
