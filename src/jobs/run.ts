import { timestamp } from '../basics/calendar.ts';
import { createPlaces } from '../children/shortage.ts';
import type { Configuration } from '../basics/configuration-schema.ts';
import { readConfiguration, universeOf } from '../basics/configuration.ts';
import {
  addMissingModelDays,
  failModelDays,
  finalStatus,
  skipModelDays,
  skippedModelDays,
  writeBySpans,
} from '../database/model-days.ts';
import {
  addWarnings,
  endJob as endStoredJob,
  modelsOfJob,
  setJobStatus,
} from '../database/jobs.ts';
import { morningWrite } from '../database/price-writes.ts';
import type { ModelDay } from '../database/sessions.ts';
import { staleModelDays, type StaleModelDays } from '../database/stale.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { type JobStatus, messageOf } from '../basics/domain.ts';
import type { Entry } from '../basics/entry.ts';
import { logUnexpected } from '../basics/log.ts';
import { makers } from '../basics/makers.ts';
import type { DatePrices } from '../prices/needs.ts';
import { reasonForNoDownload, supplyPrices } from '../prices/supply.ts';
import { count, list } from '../basics/sentences.ts';
import { openMarket } from '../trading/market.ts';
import { bySlices, inShortTurn, type Steps } from '../basics/turns.ts';
import {
  type ActiveJob,
  type Job,
  openJob,
  storedLeftOut,
  type WorkerContext,
} from './active-job.ts';
import { costWarnings, createSpending } from './cost-limits.ts';
import { entriesOf } from './entries.ts';
import { type Lifetime, watchLifetime } from './lifetime.ts';
import { runModelDay } from './model-day.ts';
import {
  datesToRun,
  NO_DATES,
  type Plan,
  planJob,
  skipUnpricedDates,
  skipWarnings,
} from './plan.ts';

/** Stale model-days named in a job's warning. */
const MAX_NAMED_MODEL_DAYS = 20;

/**
 * Works a job through its five steps: missing prices, downloads, plan, status and warnings,
 * model-days. Resolves when the job has ended, or when the signal stopped it half-way; the next
 * call continues it. Rejects when the database cannot be used, and leaves the job as it is.
 */
export async function runJob(
  context: WorkerContext,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  let error: string | null = null;
  const lifetime = watchLifetime(context, jobId, { signal });
  try {
    error = await work(context, openJob(context.database, jobId), { signal, lifetime });
  } catch (thrown) {
    if (signal.aborted) return;
    if (storageFaultOf(thrown) !== null) throw thrown;
    error = `Internal error (reference ${logUnexpected(context.log, thrown, { jobId })})`;
  } finally {
    lifetime.stop();
  }
  if (signal.aborted) return;
  const stale = await bySlices(staleOf(context, jobId));
  if (!signal.aborted) await endJob(context, jobId, { error, stale, signal });
}

/**
 * Ends a job; with an error, its remaining model-days fail, those of its last dates in the
 * transaction that ends it. `stale` model-days are named in its warnings.
 */
export async function endJob(
  context: WorkerContext,
  jobId: string,
  { error, stale, signal }: { error: string | null; stale?: StaleModelDays; signal?: AbortSignal },
): Promise<void> {
  const { database, clock, log } = context;
  const named = stale ?? (await bySlices(staleOf(context, jobId)));
  const at = timestamp(clock());
  const end = (status: JobStatus) => {
    addWarnings(database, jobId, staleWarnings(named));
    endStoredJob(database, jobId, { status, error, at });
  };
  const status = error === null ? await bySlices(finalStatus(database, jobId)) : 'failed';
  if (error === null) await database.write(() => end(status), { signal });
  else
    await writeBySpans(
      database,
      jobId,
      (span, isLast) => {
        failModelDays(database, jobId, { span, error, at });
        if (isLast) end(status);
      },
      { signal },
    );
  log.info('job ended', { jobId, status, ...(error !== null && { error }) });
}

/**
 * Adds the model-days that a cancelled or discarded job leaves stale to its warnings. A failure to
 * do so is only logged.
 */
export async function warnOfStale(
  context: Pick<WorkerContext, 'database' | 'log'>,
  jobId: string,
): Promise<void> {
  const { database, log } = context;
  try {
    const warnings = staleWarnings(await bySlices(staleOf(context, jobId)));
    if (warnings.length > 0) await database.write(() => addWarnings(database, jobId, warnings));
  } catch (error) {
    logUnexpected(log, error, {
      jobId,
      consequence: 'its warnings do not name the stale model-days',
    });
  }
}

/** Resolves to the job-level error, or null. */
async function work(
  context: WorkerContext,
  job: Job,
  { signal, lifetime }: { signal: AbortSignal; lifetime: Lifetime },
): Promise<string | null> {
  const { database, clock } = context;
  const universe = universeOf(job.agentConfig);
  const models = job.runs.map(({ model }) => model);
  const configuration = configurationNow(context);
  const startedAt = timestamp(clock());
  await database.write(
    () => setJobStatus(database, job.jobId, { status: 'downloading_data', at: startedAt }),
    {
      signal,
    },
  );
  await addMissingModelDays(database, job.jobId, { signal });
  const plan = await bySlices(planJob(database, job));
  const prices = await supplyPrices(context, { dates: datesToRun(plan), universe, models, signal });
  if (signal.aborted) return null;
  const priced = skipUnpricedDates(plan, prices.dates);
  const at = timestamp(clock());
  const isLost = hasNoDates(plan, prices.dates);
  const { maxParallelModels, modelDayCommand } = context.settings;
  const firstLineMs =
    modelDayCommand === null ? context.limits.firstLineMs : context.limits.launcherFirstLineMs;
  const places = createPlaces(maxParallelModels, { ...context.limits, firstLineMs });
  const entries = await bySlices(entriesOf(job));
  logForeignHosts(context, entries);
  const spending = createSpending(database, job);
  const activeJob: ActiveJob = {
    ...{
      job,
      universe: new Set(universe),
      entries,
      configuration,
      signal,
      lifetime,
      places,
      spending,
    },
    leftOut: storedLeftOut(job),
    keyRefusals: new Map(),
    cannotStart: null,
    hasStarted: false,
  };
  const ofCosts =
    context.settings.deploymentMode === 'PROD' && !isLost ? costWarnings(activeJob) : []; // DEV costs nothing
  await skipModelDays(
    database,
    priced.flatMap(({ skips }) => skips),
    { at, signal },
  );
  const skipped = await bySlices(skippedModelDays(database, job.jobId));
  await database.write(
    () => {
      addWarnings(database, job.jobId, [...prices.warnings, ...skipWarnings(skipped), ...ofCosts]);
      if (!isLost) setJobStatus(database, job.jobId, { status: 'running', at });
    },
    { signal },
  );
  if (isLost) {
    const reason = reasonForNoDownload(context.settings);
    return reason === null ? NO_DATES : `${NO_DATES}: ${reason}; import-prices reads price files`;
  }
  for (const { date, run } of priced) {
    await spending.reach(date);
    await runDate(context, activeJob, run);
    if (signal.aborted || activeJob.cannotStart !== null) break;
  }
  return activeJob.cannotStart;
}

/**
 * Runs all models of one date side by side, at most `maxParallelModels` at a time; resolves when
 * the last has ended.
 */
async function runDate(
  context: WorkerContext,
  activeJob: ActiveJob,
  modelDays: readonly ModelDay[],
): Promise<void> {
  const [first] = modelDays;
  if (first === undefined) return;
  const { database } = context;
  const prices = {
    reader: database,
    write: await database.write(() => morningWrite(database, first)),
  };
  const market = openMarket(prices, first.date, [...activeJob.universe]);
  const queue = [...modelDays];
  const workOff = async () => {
    const goesOn = () => !activeJob.signal.aborted && activeJob.cannotStart === null;
    for (
      let modelDay = queue.shift();
      modelDay !== undefined && goesOn();
      modelDay = queue.shift()
    ) {
      // One that fails at once, as without a key, waits for nothing: a thousand of them must not
      // end in one turn.
      const next = { modelDay, market };
      await inShortTurn(() => runModelDay(context, activeJob, next));
    }
  };
  // An error here is not a model's fault. Model-days that already run may end before it is thrown.
  const ends = await Promise.allSettled(
    Array.from({ length: context.settings.maxParallelModels }, workOff),
  );
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
}

/**
 * Whether the remaining model-days are all on dates whose prices are missing; known holidays do not
 * count as missing.
 */
function hasNoDates(plan: Plan, dates: readonly DatePrices[]): boolean {
  return (
    datesToRun(plan).length > 0 &&
    dates.every(({ availability }) => availability !== 'available') &&
    dates.some(({ availability }) => availability === 'missing')
  );
}

/** Null for a missing or broken file: what needs a key from it then fails with the reason. */
function configurationNow({ settings, log }: WorkerContext): Configuration | null {
  try {
    return readConfiguration(settings.configurationPath, settings.openaiApiBase);
  } catch (error) {
    log.warning(messageOf(error));
    return null;
  }
}

/**
 * OPENAI_API_KEY goes to another host only where the operator named that host; the log says so,
 * once for each entry.
 */
function logForeignHosts(
  { log, settings }: WorkerContext,
  entries: ReadonlyMap<string, Entry>,
): void {
  if (settings.openaiApiKey === null) return;
  const hosts = new Map<string, string>();
  for (const { signature, url, key_source: source } of entries.values())
    if (source === 'service' && url !== null && url !== makers[0].url)
      hosts.set(signature, new URL(url).host);
  for (const [entry, host] of hosts)
    log.info('OPENAI_API_KEY is sent to another host, which the configuration names', {
      entry,
      host,
    });
}

/** The stale model-days of a job's models, in steps, because years of them take a while. */
function staleOf(
  { database }: Pick<WorkerContext, 'database'>,
  jobId: string,
): Steps<StaleModelDays> {
  return staleModelDays(database, modelsOfJob(database, jobId).sort(), {
    most: MAX_NAMED_MODEL_DAYS,
  });
}

function staleWarnings({ first, total, remedy }: StaleModelDays): string[] {
  if (total === 0) return [];
  const named = list(
    first.map(({ model, date }) => `${model} ${date}`),
    { total },
  );
  return [
    `${count(total, 'stale model-day')}, whose start, prices, splits or dividends have changed since: ${named}; ${remedy}`,
  ];
}
