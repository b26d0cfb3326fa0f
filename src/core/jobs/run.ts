import { setImmediate as nextRound } from 'node:timers/promises';
import { type CalendarDate, timestamp } from '#time/calendar.ts';
import { createPlaces, maxParallelChildren } from '#children/places.ts';
import type { Configuration } from '#settings/configuration-schema.ts';
import { parseAgentConfiguration, readConfiguration } from '#settings/configuration.ts';
import {
  datesToRun,
  endModelDays,
  finalStatus,
  pendingModelDays,
  skipModelDays,
  type SkippedOnDate,
  skippedModelDays,
  faultyAnswers,
} from '#database/model-days.ts';
import {
  addWarnings,
  endJob as endStoredJob,
  loadJob,
  modelsOfJob,
  setJobStatus,
} from '#database/job-queries.ts';
import { type CountedDocuments, countDocuments } from '#database/document-queries.ts';
import { costsBefore } from '#database/usage.ts';
import { somePrices, symbolsWithRealPrices } from '#database/prices.ts';
import { morningWrite } from '#database/price-writes.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import { errorMessage } from '#domain/service-error.ts';
import { skipReasons, type Warning } from '#domain/vocabulary.ts';
import { count, compact, list } from '#text/sentences.ts';
import { STALE_CAUSE, staleModelDays } from '#database/stale.ts';
import type { Database } from '#database/database.ts';
import { decodeEntry } from '#settings/entry.ts';
import { logUnexpected } from '#process/log.ts';
import { makers } from '#settings/makers.ts';
import { universeOn } from '#settings/members.ts';
import type { Availability, DatePrices } from '#prices/needs.ts';
import { noDownloadReason, supplyPrices } from '#prices/supply.ts';
import { limitWarnings } from '#prices/warnings.ts';
import { readsDocuments } from '#trading/morning-documents.ts';
import { type Market, openMarket } from '#trading/market.ts';
import { heldWarnings } from '#prices/suspected.ts';
import { scheduleSliced } from '#children/turns.ts';
import { type ActiveJob, isStopped, type WorkerContext, watchLifetime } from './active-job.ts';
import { resolveModel } from './entries.ts';
import { runModelDay } from './model-day.ts';
import { noteEnd } from './webhook.ts';

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
    error = await runJobSteps(openJob(context, jobId, { signal, lifetime }));
  } catch (thrown) {
    if (signal.aborted) return;
    if (findStorageFault(thrown) !== null) throw thrown;
    error = `Internal error (reference ${logUnexpected(context.log, thrown, { jobId })})`;
  } finally {
    lifetime.stop();
  }
  if (!signal.aborted) await finishJob(context, jobId, { error, signal });
}

/**
 * Ends a job in one transaction; with an error, its remaining model-days fail. Its warnings name
 * the stale model-days.
 */
export async function finishJob(
  context: WorkerContext,
  jobId: string,
  { error, signal }: { error: string | null; signal?: AbortSignal },
): Promise<void> {
  const { database, clock, log } = context;
  const at = timestamp(clock());
  const end = () => {
    if (error !== null) endModelDays(database, jobId, { status: 'failed', error, at });
    const status = error === null ? finalStatus(database, jobId) : 'failed';
    endStoredJob(database, jobId, { status, error, at });
    addModelDayWarnings(database, jobId);
    noteEnd(context, jobId);
    return status;
  };
  const status = await database.write(end, { signal });
  log.info('job ended', { jobId, status, ...(error !== null && { error }) });
}

/** A job with the configuration and the keys of now. */
function openJob(
  context: WorkerContext,
  jobId: string,
  { signal, lifetime }: Pick<ActiveJob, 'signal' | 'lifetime'>,
): ActiveJob {
  const job = loadJob(context.database, jobId);
  const agentConfig = parseAgentConfiguration(job.agentConfig);
  const sources = { ...context, configuration: tryReadConfiguration(context), agentConfig };
  const resolved = job.runs.map(({ model: name, family, startDate, entry: stored }) => {
    const entry = decodeEntry(stored);
    const run = { family, startDate, entry, model: resolveModel(entry, sources), keyRefusals: [] };
    return [name, run] as const;
  });
  return {
    ...context,
    jobId,
    agentConfig,
    runs: new Map(resolved),
    signal,
    lifetime,
    places: createPlaces(maxParallelChildren(context.settings)),
    startFailure: null,
  };
}

/** Resolves to the job-level error, or null. */
async function runJobSteps(job: ActiveJob): Promise<string | null> {
  const { database, clock, settings, jobId, agentConfig, signal } = job;
  const { stock_symbols: universe, members } = agentConfig;
  const startedAt = timestamp(clock());
  await database.write(
    () => setJobStatus(database, jobId, { status: 'downloading_data', at: startedAt }),
    job,
  );
  const dates = datesToRun(database, jobId);
  const models = [...job.runs.keys()];
  const prices = await supplyPrices(job, { dates, universe, members, models, signal });
  if (signal.aborted) return null;
  const priced = selectDates('available', prices.dates);
  const hasNoPrices = priced.length === 0 && selectDates('missing', prices.dates).length > 0;
  logForeignHosts(job);
  const at = timestamp(clock());
  await database.write(() => {
    skipModelDays(database, jobId, { priced, at });
    const skipNotes = skipWarnings(skippedModelDays(database, jobId), job.runs);
    const limitNotes = limitWarnings(database, agentConfig);
    addWarnings(database, jobId, [...prices.warnings, ...limitNotes, ...skipNotes]);
    if (!hasNoPrices) setJobStatus(database, jobId, { status: 'running', at });
  }, job);
  if (hasNoPrices) {
    const reason = noDownloadReason(settings);
    if (reason === null) return NO_DATES;
    const others = symbolsWithRealPrices(database, universe).size === 0 && somePrices(database);
    const advice = others
      ? `None of its symbols has any, others have: ${others}. Check stock_symbols`
      : 'Import them with import-prices';
    return `${NO_DATES} (${reason}). ${advice}`;
  }
  for (const date of priced) {
    await runDate(job, date);
    if (isStopped(job)) break;
  }
  return job.startFailure;
}

function selectDates(availability: Availability, dates: readonly DatePrices[]): CalendarDate[] {
  return dates.filter((one) => one.availability === availability).map(({ date }) => date);
}

/**
 * Runs all models of one date side by side, at most as many as there are places; resolves when
 * the last has ended.
 */
async function runDate(job: ActiveJob, date: CalendarDate): Promise<void> {
  const { database, jobId, agentConfig } = job;
  const prices = {
    reader: database,
    write: await database.write(() => morningWrite(database, { jobId, date })),
  };
  const universe = universeOn(agentConfig, date);
  const market = openMarket(prices, date, [...universe]);
  const documents = await countMorningDocuments(job, market, universe);
  const spentBefore = costsBefore(database, jobId, date);
  const dateContext = { market, universe, documents, spentBefore };
  const queue = pendingModelDays(database, jobId, date);
  const runQueue = async () => {
    while (!isStopped(job)) {
      const modelDay = queue.shift();
      if (modelDay === undefined) return;
      // One that fails at once, as without a key, waits for nothing: a thousand of them must not
      // end in one turn.
      await scheduleSliced(() => runModelDay(job, dateContext, modelDay));
    }
  };
  // An error here is not a model's fault. Model-days that already run may end before it is thrown.
  const ends = await Promise.allSettled(Array.from({ length: job.places.most }, runQueue));
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
}

/** The documents of a morning, which all models of the job share; none where no model reads them. */
async function countMorningDocuments(
  { runs, agentConfig }: ActiveJob,
  { prices, date }: Market,
  universe: ReadonlySet<string>,
): Promise<CountedDocuments> {
  let documents: CountedDocuments = { counts: [], hash: 0 };
  if (!runs.values().some(({ entry }) => readsDocuments(entry.tools))) return documents;
  for (documents of countDocuments(
    { ...prices, date, symbols: null, rules: agentConfig.market },
    universe,
  ))
    await nextRound();
  return documents;
}

/** Null for a missing or broken file: what needs a key from it then fails with the reason. */
function tryReadConfiguration({ settings, log }: WorkerContext): Configuration | null {
  try {
    return readConfiguration(settings.configurationPath, settings.openaiApiBase);
  } catch (error) {
    log.warning(errorMessage(error));
    return null;
  }
}

/**
 * OPENAI_API_KEY goes to another host only where the operator named that host; the log says so,
 * once for each entry.
 */
function logForeignHosts({ log, settings, runs }: ActiveJob): void {
  if (settings.openaiApiKey === null) return;
  const hosts = new Map<string, string>();
  for (const { entry } of runs.values()) {
    const { signature, url, key_source: source } = entry;
    if (source === 'service' && url !== null && url !== makers[0].url)
      hosts.set(signature, new URL(url).host);
  }
  for (const [entry, host] of hosts)
    log.info('OPENAI_API_KEY is sent to another host, which the configuration names', {
      entry,
      host,
    });
}

/** Why a job fails that has model-days to run, and prices for none of their dates. */
export const NO_DATES = 'The job could not run: there are no prices for any of its dates';

/** What was skipped of a job, as sentences with counts. */
function skipWarnings(skipped: readonly SkippedOnDate[], runs: ActiveJob['runs']): string[] {
  const skippedBy = (wanted: string) => skipped.filter(({ reason }) => reason === wanted);
  const modelDays = (some: readonly SkippedOnDate[]) =>
    some.reduce((sum, one) => sum + one.modelDays, 0);
  const completed = modelDays(skippedBy(skipReasons.alreadyCompleted));
  const early = skippedBy(skipReasons.beforeResumeDate);
  const unpriced = skippedBy(skipReasons.noPriceData).map(({ date }) => date);
  const starts = [...runs].flatMap(([model, { startDate }]) =>
    startDate > (early[0]?.date ?? '') ? `${model} runs from ${startDate} on` : [],
  );
  return compact([
    completed > 0 && `Skipped ${count(completed, 'completed model-day')}`,
    early.length > 0 && `Skipped ${count(modelDays(early), 'model-day')}: ${list(starts)}`,
    unpriced.length > 0 &&
      `Skipped ${count(unpriced.length, 'date')} without prices: ${list(unpriced)}`,
  ]);
}

/** Stale model-days named in a job's warning. */
const MAX_NAMED_DAYS = 20;

/** What is wrong with the answers of an entry, with what to do. */
function answerWarnings({
  family,
  unread,
  refused,
  written,
}: ReturnType<typeof faultyAnswers>[number]): Warning[] {
  const rows: [number, Warning['code'], string][] = [
    [
      unread,
      'unread',
      `returned no valid decision on ${count(unread, 'model-day')}, and did not trade there`,
    ],
    [
      refused,
      'refused_answers',
      `refused to answer, or its provider blocked the answer, ${count(refused, 'time')}; nothing in such an answer is executed`,
    ],
    [
      written,
      'written_calls',
      `wrote orders as text in ${count(written, 'answer')}, and text is never executed: on a local server, set the tool-call parser`,
    ],
  ];
  return rows.flatMap(([times, code, message]) =>
    times === 0 ? [] : [{ code, message: `'${family}' ${message}` }],
  );
}

/**
 * Warns of the answers of a job that decided nothing, of what is suspected of its holdings, and of
 * the stale model-days of its models, within the transaction that ends or discards it. Returns how
 * many are stale.
 */
export function addModelDayWarnings(database: Database, jobId: string): number {
  const models = modelsOfJob(database, jobId);
  const { first, total, remedy } = staleModelDays(database, models, { most: MAX_NAMED_DAYS });
  const days = first.map(({ model, date }) => `${model} ${date}`);
  const stale = `${count(total, 'model-day is', 'model-days are')} stale, because ${STALE_CAUSE}`;
  addWarnings(
    database,
    jobId,
    compact<string | Warning>([
      ...faultyAnswers(database, jobId).flatMap(answerWarnings),
      ...heldWarnings(database, jobId, models),
      total > 0 && `${stale}: ${list(days, { total })}; ${remedy}`,
    ]),
  );
  return total;
}
