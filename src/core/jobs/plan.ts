import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { addDays, type CalendarDate, countDays, utcDate, weekdays } from '#time/calendar.ts';
import {
  type AgentConfiguration,
  type Configuration,
  MAX_SYMBOLS,
} from '#settings/configuration-schema.ts';
import {
  agentConfigurationFor,
  configurationInStudy,
  readFrozen,
  warnOfContent,
  withPrompts,
} from '#settings/configuration.ts';
import type { Database } from '#database/database.ts';
import { listDocuments } from '#database/document-queries.ts';
import { seriesSource, symbolsWithRealPrices } from '#database/prices.ts';
import { unfinishedJobId } from '#database/job-queries.ts';
import { activeSpans, completedByJob, laterDays } from '#database/active-days.ts';
import { knownRuns } from '#database/records/model-records.ts';
import { ServiceError } from '#domain/service-error.ts';
import type { Warning } from '#domain/vocabulary.ts';
import { encodeEntry, type Entry } from '#settings/entry.ts';
import { universeOn } from '#settings/members.ts';
import { withTermsOf } from '#settings/terms.ts';
import { expandModels, type ModelRun } from './chosen-models.ts';
import { compareWithEarlier, readTermsOf } from './kept-terms.ts';
import { count, hint, list } from '#text/sentences.ts';
import { readGaps } from '#prices/dividend-gaps.ts';
import { examine } from '#prices/needs.ts';
import { connectProviders, usesSyntheticPrices } from '#prices/providers.ts';
import { noDownloadReason } from '#prices/supply.ts';
import { mixWarnings } from '#prices/warnings.ts';
import type { WorkerContext } from './active-job.ts';
import { resolveModel, knownKeys, resolveEntry } from './entries.ts';

export interface JobRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  /** Empty means the enabled models of the server configuration, or those of `termsOf`. */
  models: readonly string[];
  replaceExisting: boolean;
  /** A universe of the server configuration; null for that of the study. */
  universe: string | null;
  /** A study of the server configuration; '' is the one without a name, as is none unless `termsOf` has one. */
  study?: string | null;
  /**
   * Whether completed days may be replaced on other terms than those stored with them; null where
   * the client does not say.
   */
  changeTerms?: boolean | null;
  /** The job on whose terms to run, in its study; null for those of the configuration. */
  termsOf?: string | null;
}

/** A run and what it asks, which is stored with it. */
interface ResolvedRun extends ModelRun {
  entry: Entry;
  /** Why it cannot be asked as the configuration is now; null when it can. */
  problem: string | null;
}

const NO_DOCUMENTS =
  'Models get no documents: the universe is a control market, and documents would name its companies';

/**
 * What a trigger's rules, in their order, make of it by the configuration as it is now: the job
 * runs from that, whatever becomes of the files. Reads them and the prices, so no transaction waits
 * for it; `isCurrent` then says whether the completed days are still those that it rests on. Throws
 * a `ServiceError` when a rule refuses the job.
 */
export function planJob(context: WorkerContext, request: JobRequest) {
  const { database, settings, log, environment, clock } = context;
  const { configurationPath: path, maxSimulationDays } = settings;
  const { endDate, replaceExisting, changeTerms = null } = request;
  const file = readFrozen(path, settings.openaiApiBase);
  warnOfContent(file, log);
  const { written, study, universe, models, ...terms } = chooseTerms(database, request, file);
  const own = new Set(models.flatMap(({ model, family }) => [model, family]));
  const readSpans = () => activeSpans(database, [...own]);
  const spans = readSpans();
  const simulatedThrough = (model: string) => spans.get(model)?.lastDate ?? null;
  const { runs, ...range } = resolveRange(
    { ...request, models },
    { simulatedThrough, today: utcDate(clock()), maxSimulationDays },
  );
  assertNoUnfinishedJob(database);
  const configuration = withPrompts(written, path);
  const agentConfig = withMemberSymbols(terms.read(path), range.dates);
  const readCompleted = () => completedByJob(database, runs, endDate);
  const readReplaced = () => (replaceExisting ? readCompleted() : null);
  const replaced = readReplaced();
  const termWarnings = compareWithEarlier(database, {
    ...{ study, changeTerms, replaced, readCompleted, agentConfig, runs, dates: range.dates },
  });
  const { stock_symbols: symbols, market: rules } = agentConfig;
  const morning = { reader: database, date: endDate, write: null, symbols, rules };
  const hasAnyDocument = listDocuments(morning, { limit: 1 }).length > 0;
  const isControlMarket =
    hasAnyDocument && symbols.some((one) => seriesSource(database, one) === 'disguise');
  const isKey = knownKeys(configuration, settings, environment);
  const hasDocuments = hasAnyDocument && !isControlMarket;
  const sources = { settings, configuration, agentConfig, environment, isKey, hasDocuments };
  const resolved = runs.map((run) => {
    const entry = resolveEntry(run, sources);
    const model = resolveModel(entry, sources);
    return { ...run, entry, problem: 'error' in model ? model.error : null };
  });
  const hasEarlierDays = ({ model }: { model: string }) =>
    (spans.get(model)?.firstDate ?? range.startDate) < range.startDate;
  return {
    ...range,
    agentConfig,
    study,
    universe,
    runs: resolved.map((run) => ({ ...run, entry: encodeEntry(run.entry) })),
    warnings: [
      ...[...configuration.unknownKeys, ...configuration.familyNotes],
      ...entryWarnings(resolved, configuration),
      ...termWarnings,
      ...(isControlMarket ? [NO_DOCUMENTS] : []),
      ...dividendWarnings(context, agentConfig, {
        since: addDays(range.startDate, runs.some(hasEarlierDays) ? -1 : 0), // what is held may pay at once
        lastDate: range.dates.at(-1) ?? endDate,
      }),
      ...(usesSyntheticPrices(settings)
        ? mixWarnings(symbolsWithRealPrices(database, symbols), symbols)
        : []),
      ...(request.startDate === null
        ? newRunWarnings(models, endDate, (model) => spans.get(model)?.firstDate ?? null)
        : laterDayWarnings(
            context,
            runs.flatMap(({ model }) =>
              (simulatedThrough(model) ?? '') > range.startDate ? model : [],
            ),
            { ...request, dates: range.dates, universe: symbols },
          )),
    ],
    isCurrent: () => isDeepStrictEqual([readSpans(), readReplaced()], [spans, replaced]),
  };
}

/**
 * The study, universe and models of a job, and how it trades: by the configuration, or by an
 * earlier job. A file of members is read later, after the rules about dates.
 */
function chooseTerms(database: Database, request: JobRequest, file: Configuration) {
  const { termsOf = null, universe = null } = request;
  const earlier = termsOf === null ? null : readTermsOf(database, termsOf);
  const study = earlier === null ? request.study || null : earlier.study;
  if (request.study != null && request.study !== (study ?? ''))
    throw new ServiceError(
      'invalid_models',
      `terms_of: job ${termsOf} belongs to ${study === null ? 'no study' : `the study '${study}'`}; leave study out`,
    );
  const own = configurationInStudy(file, earlier === null ? study : null);
  const written = own.configuration;
  const enabled = earlier === null ? own.models : earlier.runs.map(({ model }) => model);
  const names = request.models.length > 0 ? request.models : enabled;
  const known = new Map(knownRuns(database).map((run) => [run.model, run.study]));
  const models = expandModels(names, written, study, known);
  const chosen = earlier === null ? (universe ?? own.universe) : earlier.universe;
  return {
    ...{ written, study, models },
    universe: chosen,
    read: (path: string) =>
      earlier === null
        ? agentConfigurationFor(written, chosen, path)
        : withTermsOf(written.agent_config, earlier.agentConfig),
  };
}

/**
 * That dividends of what it may hold are not known between two dates, unless the job's own download
 * brings them. A day's are known on the day after.
 */
function dividendWarnings(
  { database, settings, clock }: WorkerContext,
  { stock_symbols: symbols, dividends: areWanted }: AgentConfiguration,
  { since, lastDate: end }: { since: CalendarDate; lastDate: CalendarDate },
): Warning[] {
  const isByDate = connectProviders(settings, clock).some(({ provider }) => provider.by === 'date');
  if (!areWanted || (isByDate && noDownloadReason(settings) === null)) return [];
  const yesterday = addDays(utcDate(clock()), -1);
  const lastDate = end < yesterday ? end : yesterday;
  const priced = symbols.filter((symbol) => seriesSource(database, symbol) !== null);
  const unknown = readGaps(
    database,
    priced.map((symbol) => ({ symbol, since, lastDate })),
  ).map(({ symbol }) => symbol);
  if (unknown.length === 0) return [];
  const message =
    `${unknown.length} of ${count(symbols.length, 'symbol')} may lack dividends on these dates (${list(unknown, { most: 5 })}): ` +
    'unknown dividends are not paid, and the figures are marked. ' +
    'Import a file of dividends with import-prices, or download them with download-prices --dividends';
  return [{ code: 'unknown_dividends', message }];
}

/** Rule 5 of the trigger: throws a `ServiceError` while a job is unfinished. */
export function assertNoUnfinishedJob(database: Database): void {
  const other = unfinishedJobId(database);
  if (other !== null)
    throw new ServiceError(
      'another_job_unfinished',
      `Another simulation job is already running or pending: ${other}`,
    );
}

/** With members, the symbols of a job are those that are members on one of its dates. */
function withMemberSymbols(
  terms: AgentConfiguration,
  dates: readonly CalendarDate[],
): AgentConfiguration {
  if (terms.members === undefined) return terms;
  let symbols: ReadonlySet<string> = new Set();
  for (const date of dates) {
    const own = universeOn(terms, date);
    if (own.size === 0) refuseDates(`Invalid date range: the universe has no members on ${date}`);
    symbols = symbols.union(own);
  }
  if (symbols.size > MAX_SYMBOLS)
    refuseDates(
      `Invalid date range: the universe has ${symbols.size} members on these dates, the maximum is ${MAX_SYMBOLS}`,
    );
  return { ...terms, stock_symbols: [...symbols].sort() };
}

/** Models that are named one by one: thousands would hide all other warnings. */
const MAX_NAMED_MODELS = 5;

/**
 * Sentences about entries that cannot be asked, as without a key or because they are not listed:
 * then with the signature that was probably meant.
 */
function entryWarnings(runs: readonly ResolvedRun[], { models }: Configuration): string[] {
  const failing = [...new Map(runs.map((run) => [run.problem, run])).values()];
  const named = failing.filter(({ problem }) => problem !== null);
  const others = named.splice(MAX_NAMED_MODELS).length;
  const signatures = models.map(({ signature }) => signature);
  const warnings = named.map(({ entry, problem }) => {
    const meant = entry.kind === 'unlisted' ? hint(entry.signature, signatures) : '';
    return `${problem}${meant}; its model-days will fail`;
  });
  if (others > 0) warnings.push(`All model-days of ${count(others, 'more model')} will fail`);
  return warnings;
}

/**
 * Sentences about runs that have no completed day while others of the job have, first of all those
 * of their family: in resume mode they would run the last date only.
 */
export function newRunWarnings(
  runs: readonly ModelRun[],
  endDate: CalendarDate,
  simulatedFrom: (model: string) => CalendarDate | null,
): string[] {
  const earliestDate = (some: readonly ModelRun[] = []) =>
    some
      .flatMap(({ model, family }) => simulatedFrom(model) ?? simulatedFrom(family) ?? [])
      .sort()[0];
  const families = Map.groupBy(runs, ({ family }) => family);
  const first = earliestDate(runs);
  const fresh = runs.filter(({ model }) => simulatedFrom(model) === null);
  const byStart = Map.groupBy(fresh, ({ family }) => earliestDate(families.get(family)) ?? first);
  return [...byStart].flatMap(([start = endDate, own]) => {
    if (start >= endDate) return [];
    const names = list(own.map(({ model }) => model));
    const [are, them] = own.length === 1 ? ['is', 'it'] : ['are', 'them'];
    const remedy = `To run the days before too, cancel this job and start one with start_date ${start}`;
    return `${names} ${are} new, so this job runs only ${endDate} for ${them}. ${remedy}`;
  });
}

/**
 * A sentence about completed model-days that days of this job come before, except those that it
 * replaces; none without any. Days known to be without trading do not count.
 */
function laterDayWarnings(
  context: WorkerContext,
  models: readonly string[],
  job: { dates: readonly CalendarDate[]; universe: readonly string[]; replaceExisting: boolean },
): string[] {
  if (models.length === 0) return [];
  const examined = examine(context, job);
  const days = examined.filter(({ availability }) => availability !== 'no_trading');
  const dates = days.map(({ date }) => date);
  const later = laterDays(context.database, models, { ...job, dates });
  if (later.length === 0) return [];
  const named = later.map(
    ({ model, days, first }) => `${count(days, 'model-day')} of ${model} from ${first} on`,
  );
  const which = list(named, { most: MAX_NAMED_MODELS });
  const remedy =
    'To keep these, cancel this job, or discard it once it has ended; to refresh them, run them again with replace_existing';
  return [`This job runs days before completed ones, which may become stale: ${which}. ${remedy}`];
}

interface RangeFacts {
  /** The date through which a model is simulated; null when it has no completed day. */
  simulatedThrough: (model: string) => CalendarDate | null;
  today: CalendarDate;
  maxSimulationDays: number;
}

/**
 * Each model's start and a job's dates: rules 3, 4 and 6 of the trigger. In resume mode a model
 * starts on the day after its last completed date, or on the end date when it has none; the range
 * begins at the earliest start. Throws a `ServiceError` (`invalid_dates`) when there is nothing
 * valid to run.
 */
export function resolveRange<Model extends Pick<ModelRun, 'model'>>(
  {
    startDate,
    endDate,
    models,
  }: Pick<JobRequest, 'startDate' | 'endDate'> & { models: readonly Model[] },
  facts: RangeFacts,
) {
  const runs = models.map((run) => {
    const last = facts.simulatedThrough(run.model);
    return { ...run, startDate: startDate ?? (last === null ? endDate : addDays(last, 1)) };
  });
  const [earliest] = runs.map((run) => run.startDate).sort();
  assert(earliest, 'a job has at least one model');
  if (startDate === null && earliest > endDate)
    throw new ServiceError(
      'nothing_to_resume',
      `Nothing to do up to ${endDate}: every model is complete up to ${addDays(earliest, -1)}`,
    );
  checkRange(earliest, endDate, facts);
  const dates = weekdays(earliest, endDate);
  if (dates.length === 0)
    refuseDates(
      `Invalid date range: ${earliest} to ${endDate} has no weekday, and there is no trading on weekends`,
    );
  return { startDate: earliest, dates, runs };
}

function checkRange(
  start: CalendarDate,
  end: CalendarDate,
  { today, maxSimulationDays }: RangeFacts,
): void {
  if (start > end) refuseDates(`Invalid date range: start_date ${start} is after end_date ${end}`);
  if (end > today)
    refuseDates(`Invalid date range: ${end} is in the future (today is ${today} in UTC)`);
  const days = countDays(start, end);
  if (days > maxSimulationDays)
    refuseDates(
      `Invalid date range: ${start} to ${end} is ${count(days, 'day')}, the maximum is ${maxSimulationDays} (MAX_SIMULATION_DAYS)`,
    );
}

function refuseDates(detail: string): never {
  throw new ServiceError('invalid_dates', detail);
}
