import { type CalendarDate, dateOf, timestamp } from '../calendar.ts';
import { type Configuration, readConfiguration } from '../configuration.ts';
import { insertJob, unfinishedJobId } from '../database/jobs.ts';
import { abandonRunningSessions, lastActiveDate } from '../database/sessions.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import type { WorkerContext } from '../worker/context.ts';
import { resolveRange } from './range.ts';
import { runThroughFaults } from './through-faults.ts';

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
  /** Creates a job and starts its worker after the caller's turn. Throws a `ServiceError` when it must not be created. */
  submit(request: JobRequest): SubmittedJob;
  /** Takes up the job that an earlier process left unfinished, if there is one. */
  resume(): void;
  /** Stops the worker and its children; the job stays resumable. Resolves when all of them are gone. */
  stop(): Promise<void>;
}

export function createJobs(context: WorkerContext): Jobs {
  const stopping = new AbortController();
  let working: Promise<void> = Promise.resolve();
  const start = (jobId: string) => {
    if (stopping.signal.aborted) return;
    working = runThroughFaults(context, jobId, { signal: stopping.signal }).catch((error: unknown) => {
      logUnexpected(context.log, error, { jobId, consequence: 'the job goes on at the next start' });
    });
  };
  return {
    submit(request) {
      const job = create(context, request);
      context.log.info('job created', { jobId: job.jobId, totalModelDays: job.totalModelDays });
      setImmediate(start, job.jobId);
      return job;
    },
    resume() {
      abandonRunningSessions(context.database, timestamp(context.clock()));
      const jobId = unfinishedJobId(context.database);
      if (jobId === null) return;
      context.log.info('job taken up again', { jobId });
      start(jobId);
    },
    async stop() {
      stopping.abort('The service is stopping');
      await working;
    },
  };
}

/** The trigger's rules in their order; checking for another job and inserting are one transaction. */
function create({ database, clock, settings }: WorkerContext, request: JobRequest): SubmittedJob {
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
    return {
      jobId,
      totalModelDays: dates.length * models.length,
      message: `Simulation job created for ${dates.length} dates, ${models.length} models${mode}`,
      warnings,
    };
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
