import { type Clock, dateOf } from '../calendar.ts';
import type { AgentConfiguration } from '../configuration-schema.ts';
import { agentConfigurationFor, readConfiguration, warnOfUnset } from '../configuration.ts';
import { activeSpans } from '../database/active-days.ts';
import { lastChange } from '../database/session-filters.ts';
import type { Database } from '../database/database.ts';
import { encodeEntry, type Entry } from '../entry.ts';
import type { Log } from '../log.ts';
import { count } from '../sentences.ts';
import type { Settings } from '../settings.ts';
import { mapInSteps, type Steps } from '../turns.ts';
import { ENTRIES_PER_STEP, knownKeys, resolveEntry } from '../worker/entries.ts';
import { expandModels, type ModelRun, warnOfNewRuns } from './expand-models.ts';
import { type JobRange, resolveRange } from './range.ts';
import type { JobRequest } from './submission.ts';

/**
 * What can be done for a job before the transaction that creates it: that of 2,000 models would
 * hold up other requests twice as long.
 */

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
 * Reads and resolves what a trigger means. Throws a `ServiceError` for a configuration or models
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
