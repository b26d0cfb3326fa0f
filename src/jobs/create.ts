import assert from 'node:assert/strict';
import {
  addDays,
  type CalendarDate,
  type Clock,
  countDays,
  dateOf,
  weekdays,
} from '../basics/calendar.ts';
import type {
  AgentConfiguration,
  Configuration,
  ModelConfiguration,
} from '../basics/configuration-schema.ts';
import { agentConfigurationFor, readConfiguration, warnOfUnset } from '../basics/configuration.ts';
import { activeSpans } from '../database/active-days.ts';
import { lastChange } from '../database/session-filters.ts';
import type { Database } from '../database/database.ts';
import type { Run } from '../database/jobs.ts';
import { ServiceError } from '../basics/domain.ts';
import { encodeEntry, type Entry } from '../basics/entry.ts';
import type { Log } from '../basics/log.ts';
import { MAX_RUNS, repeatIn, runNames } from '../basics/runs.ts';
import { count, list } from '../basics/sentences.ts';
import type { Settings } from '../basics/settings.ts';
import { mapInSteps, type Steps } from '../basics/turns.ts';
import { ENTRIES_PER_STEP, knownKeys, resolveEntry } from './entries.ts';

/** The content of a trigger. */
export interface JobRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  /** Empty means the enabled models of the server configuration. */
  models: readonly string[];
  replaceExisting: boolean;
  /** A universe of the server configuration; null for the default one. */
  universe: string | null;
}

/** The created job as the response to a trigger shows it. */
export interface SubmittedJob {
  jobId: string;
  totalModelDays: number;
  message: string;
  warnings: string[];
}

interface PreparationContext {
  database: Database;
  settings: Settings;
  clock: Clock;
  log: Log;
  environment: NodeJS.ProcessEnv;
}

/**
 * A run and what it asks, which is stored with it: the job runs from that, whatever becomes of the
 * file.
 */
interface ResolvedRun extends ModelRun {
  entry: Entry;
  encoded: string;
}

/**
 * A job's dates, where each run starts, and the job's first warnings, as of a change of the ledger.
 */
interface Plan extends JobRange {
  at: number;
  warnings: string[];
}

export interface Preparation {
  models: readonly ResolvedRun[];
  agentConfig: AgentConfiguration;
  /**
   * The plan, made again if the ledger has changed since. Throws a `ServiceError` when the rules of
   * the trigger refuse the job.
   */
  plan(): Plan;
}

/**
 * Reads and resolves what a trigger means, before the transaction that creates the job: that of
 * 2,000 models would hold up other requests twice as long. Throws a `ServiceError` for a configuration or models
 * that no job can have.
 */
export function* prepareJob(context: PreparationContext, request: JobRequest): Steps<Preparation> {
  const { settings, database, log, environment } = context;
  const configuration = readConfiguration(settings.configurationPath, settings.openaiApiBase);
  warnOfUnset(configuration, log);
  const isKey = knownKeys(configuration, settings, environment);
  const resolve = (run: ModelRun): ResolvedRun => {
    const entry = resolveEntry(run, { configuration, settings, isKey });
    return { ...run, entry, encoded: encodeEntry(entry) };
  };
  const models = yield* mapInSteps(
    expandModels(request.models, configuration),
    resolve,
    ENTRIES_PER_STEP,
  );
  const agentConfig = agentConfigurationFor(configuration, request.universe);
  yield null;
  let early: Plan | null = null;
  try {
    early = planRuns(context, request, models);
  } catch {
    // The transaction refuses the job, unless the request's Idempotency-Key has created it
    // meanwhile.
  }
  yield null;
  return {
    models,
    agentConfig,
    plan: () => (early?.at === lastChange(database) ? early : planRuns(context, request, models)),
  };
}

function planRuns(
  { database, settings, clock }: PreparationContext,
  request: JobRequest,
  models: readonly ResolvedRun[],
): Plan {
  const { startDate, endDate } = request;
  const at = lastChange(database);
  const resumed = startDate === null ? models : [];
  const spans = activeSpans(database, [
    ...new Set(resumed.flatMap(({ model, family }) => [model, family])),
  ]);
  const simulatedThrough = (model: string) => spans.get(model)?.lastDate ?? null;
  const simulatedFrom = (model: string) => spans.get(model)?.firstDate ?? null;
  const range = resolveRange(
    { startDate, endDate, models: models.map(({ model }) => model) },
    { simulatedThrough, today: dateOf(clock()), maxSimulationDays: settings.maxSimulationDays },
  );
  const warnings = [
    ...warnOfUnlisted(models),
    ...warnOfNewRuns(resumed, endDate, { simulatedThrough, simulatedFrom }),
  ];
  return { ...range, at, warnings };
}

/** Models that are named one by one because the configuration does not list them. */
const MAX_UNLISTED = 5;

/**
 * A warning for each of the first unlisted models, one for the others: thousands would hide all
 * other warnings.
 */
function warnOfUnlisted(runs: readonly ResolvedRun[]): string[] {
  const unlisted = runs.filter(({ entry }) => entry.kind === 'unlisted');
  const others = unlisted.splice(MAX_UNLISTED);
  const warnings = unlisted.map(
    ({ model }) => `Model '${model}' is not in the server configuration; its model-days will fail`,
  );
  if (others.length === 0) return warnings;
  const [are, their] = others.length === 1 ? ['is', 'its'] : ['are', 'their'];
  return [
    ...warnings,
    `${count(others.length, 'more model')} ${are} not in the server configuration; ${their} model-days will fail`,
  ];
}

/** One run of a job, before it has a start date. */
interface ModelRun {
  /** Its name in every table. */
  model: string;
  /** The signature of its entry; its own name when the configuration does not list it. */
  family: string;
  /** Which of the entry's runs it is, from 1. */
  run: number;
}

/**
 * The runs that a trigger means: all of an entry for its signature, one for a name such as
 * `gpt-5#2`; without names, those of the enabled entries. Duplicates are dropped, order is kept.
 * Throws a `ServiceError` for none, too many, or a run that its entry does not have.
 */
export function expandModels(requested: readonly string[], { models }: Configuration): ModelRun[] {
  const entries = new Map(models.map((entry) => [entry.signature, entry]));
  const enabled = models.filter((entry) => entry.enabled).map(({ signature }) => signature);
  const names = requested.length > 0 ? requested : enabled;
  if (names.length === 0) {
    throw new ServiceError(
      'no_models',
      'No models to simulate: the server configuration enables none, and the request names none',
    );
  }
  const runs = new Map<string, ModelRun>();
  for (const name of names) for (const run of runsOf(name, entries)) runs.set(run.model, run);
  if (runs.size <= MAX_RUNS) return [...runs.values()];
  const much = `${count(runs.size, 'run')} with all repeats`;
  throw new ServiceError(
    'invalid_models',
    `Cannot create a job of ${much}: at most ${MAX_RUNS} are possible; name fewer models, or lower their repeats`,
  );
}

function runsOf(name: string, entries: ReadonlyMap<string, ModelConfiguration>): ModelRun[] {
  const entry = entries.get(name);
  if (entry !== undefined)
    return runNames(entry).map((model, index) => ({ model, family: name, run: index + 1 }));
  const { family = '', run = 0 } = repeatIn(name) ?? {};
  const owner = entries.get(family);
  if (owner === undefined) return [{ model: name, family: name, run: 1 }];
  if (run > 1 && run <= owner.repeats) return [{ model: name, family, run }];
  const names = runNames(owner).map((one) => `'${one}'`);
  throw new ServiceError(
    'invalid_models',
    `Cannot run '${name}': the runs of '${family}' are ${list(names)}`,
  );
}

/** What is known of a run's model-days; null without any. */
interface Facts {
  simulatedThrough(model: string): string | null;
  simulatedFrom(model: string): string | null;
}

/**
 * Sentences about runs that have no completed day while others of their family have: in resume mode
 * they would run the last date only, so each sentence names the start date that fills them in.
 */
export function warnOfNewRuns(
  runs: readonly ModelRun[],
  endDate: string,
  { simulatedThrough, simulatedFrom }: Facts,
): string[] {
  return [...Map.groupBy(runs, ({ family }) => family)].flatMap(([family, own]) => {
    const fresh = own.map(({ model }) => model).filter((model) => simulatedThrough(model) === null);
    const starts = [family, ...own.map(({ model }) => model)]
      .map(simulatedFrom)
      .filter((date) => date !== null);
    const [first] = starts.sort();
    if (fresh.length === 0 || first === undefined) return [];
    const have = fresh.length === 1 ? 'has' : 'have';
    const run = fresh.length === 1 ? 'runs' : 'run';
    return [
      `${list(fresh)} ${have} no completed day and ${run} ${endDate} only; start_date ${first} fills in the rest`,
    ];
  });
}

/**
 * The beginning of the refusal when resume mode has nothing left to do; the command line knows it
 * by these words.
 */
export const NOTHING_TO_RESUME = 'Nothing to resume up to';

interface RangeFacts {
  /** The date through which a model is simulated; null when it has no completed day. */
  simulatedThrough: (model: string) => CalendarDate | null;
  /** Today in UTC. */
  today: CalendarDate;
  maxSimulationDays: number;
}

interface JobRange {
  startDate: CalendarDate;
  dates: CalendarDate[];
  runs: Pick<Run, 'model' | 'startDate'>[];
}

/**
 * Each model's start and a job's dates: rules 3, 4 and 6 of the trigger. In resume mode a model
 * starts on the day after its last completed date, or on the end date when it has none; the range
 * begins at the earliest start. Throws a `ServiceError` (`invalid_dates`) when there is nothing
 * valid to run.
 */
export function resolveRange(
  { startDate, endDate, models }: Pick<JobRequest, 'startDate' | 'endDate' | 'models'>,
  facts: RangeFacts,
): JobRange {
  const runs = models.map((model) => ({
    model,
    startDate: startDate ?? resumeDate(facts.simulatedThrough(model), endDate),
  }));
  const [earliest] = runs.map((run) => run.startDate).sort();
  assert(earliest, 'a job has at least one model');
  if (startDate === null && earliest > endDate) {
    refuse(
      `${NOTHING_TO_RESUME} ${endDate}: every model has already run through ${addDays(earliest, -1)}`,
    );
  }
  checkRange(earliest, endDate, facts);
  const dates = weekdays(earliest, endDate);
  if (dates.length === 0)
    refuse(
      `Invalid date range: ${earliest} to ${endDate} has no weekday, and only weekdays are simulated`,
    );
  return { startDate: earliest, dates, runs };
}

function resumeDate(simulatedThrough: CalendarDate | null, endDate: CalendarDate): CalendarDate {
  return simulatedThrough === null ? endDate : addDays(simulatedThrough, 1);
}

function checkRange(
  start: CalendarDate,
  end: CalendarDate,
  { today, maxSimulationDays }: RangeFacts,
): void {
  if (start > end) refuse(`Invalid date range: start_date ${start} is after end_date ${end}`);
  if (end > today) refuse(`Invalid date range: ${end} is in the future (today is ${today} in UTC)`);
  const days = countDays(start, end);
  if (days > maxSimulationDays) {
    refuse(
      `Invalid date range: ${start} to ${end} is ${days} days, the maximum is ${maxSimulationDays} (MAX_SIMULATION_DAYS)`,
    );
  }
}

function refuse(detail: string): never {
  throw new ServiceError('invalid_dates', detail);
}
