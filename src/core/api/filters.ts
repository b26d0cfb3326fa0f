import * as v from 'valibot';
import type { JobWindow, SessionFilters } from '#database/session-filters.ts';
import type { Database } from '#database/database.ts';
import { statusOfJob } from '#database/job-queries.ts';
import { invalidFilter, ServiceError } from '#domain/service-error.ts';
import { dateText, jobFilter, modelFilter, namesFilter, studyFilter } from './schemas.ts';
import { resolveStudy, type StudyContext } from './studies.ts';
import { knownRuns } from '#database/records/model-records.ts';

/** A range of dates, both ends included; either end may be omitted. */
export const dateRangeEntries = {
  start_date: v.optional(v.pipe(dateText, v.description('The first date, inclusive.'))),
  end_date: v.optional(v.pipe(dateText, v.description('The last date, inclusive.'))),
};

/** Model-day filters of a query. */
type DaysQuery = {
  [Name in 'job_id' | 'model' | 'models' | 'study' | 'date' | 'start_date' | 'end_date']?:
    | string
    | undefined;
};

/**
 * The model-days that a query selects. Throws a `ServiceError` for both `model` and `models`, for
 * both a date and a range, and for a range that ends before it starts.
 */
export function parseFilters(query: DaysQuery): JobWindow & { model?: string | undefined } {
  const { job_id: jobId, model, study, date, start_date: startDate, end_date: endDate } = query;
  if (model !== undefined && query.models !== undefined)
    throw invalidFilter('models', 'cannot be combined with model; name all models in models');
  if (startDate !== undefined && endDate !== undefined && startDate > endDate)
    throw new ServiceError(
      'invalid_dates',
      `Invalid date range: start_date ${startDate} is after end_date ${endDate}`,
    );
  if (date === undefined) return { jobId, model, study, startDate, endDate };
  if (startDate !== undefined || endDate !== undefined)
    throw invalidFilter(
      'date',
      'cannot be combined with start_date and end_date; give one date or a range',
    );
  return { jobId, model, study, startDate: date, endDate: date };
}

/** Throws a `ServiceError` (`job_not_found`) for the filter of a job that does not exist. */
export function checkJob(database: Database, { jobId }: JobWindow): void {
  if (jobId !== undefined && statusOfJob(database, jobId) === null)
    throw new ServiceError('job_not_found', `Job ${jobId} not found`);
}

/**
 * Throws a `ServiceError` for the filter of a job that does not exist, or of a model that no job
 * has run: without it a misspelt name looks like a model without model-days.
 */
export function checkNames(
  database: Database,
  { jobId, model }: ReturnType<typeof parseFilters>,
): void {
  checkJob(database, { jobId });
  if (model !== undefined) resolveRuns(database, [model], 'model');
}

/**
 * The filters of model-days that the feed of decisions and the search have in common, in a query.
 */
export const feedEntries = {
  job_id: jobFilter,
  model: modelFilter,
  study: studyFilter,
  models: namesFilter(
    'Models, separated by commas: entries by signature, with all their runs, or single runs, with # percent-encoded. ' +
      'Not together with model.',
  ),
  ...dateRangeEntries,
};

/**
 * The model-days that a query selects, with its names resolved. A ledger is of one study: without
 * names a study is its runs. Throws as `parseFilters` does, for a name in `models` that no job has
 * run and, where they must exist, for such a `model` or job.
 */
export function sessionFilters(
  context: StudyContext,
  given: DaysQuery,
  { mustExist = false } = {},
): SessionFilters {
  const { database } = context;
  const query = resolveStudy(context, given);
  const { study, ...filters } = parseFilters(query);
  if (mustExist) checkNames(database, filters);
  const { model } = filters;
  if (model !== undefined) return { ...filters, models: [model] };
  if (query.models !== undefined)
    return { ...filters, models: resolveRuns(database, query.models.split(',')) };
  if (study === undefined) return filters;
  return { ...filters, models: knownRuns(database, study).map((run) => run.model) };
}

/** The named runs, and all runs of the named entries. */
function resolveRuns(database: Database, names: readonly string[], parameter = 'models'): string[] {
  const runs = knownRuns(database).map(({ model, family }) => ({ model, own: [model, family] }));
  const unknown = names.find((name) => !runs.some(({ own }) => own.includes(name)));
  if (unknown !== undefined) throw unknownModel(parameter, unknown);
  return runs
    .filter(({ own }) => own.some((name) => names.includes(name)))
    .map(({ model }) => model);
}

/** The refusal of a name, in a parameter of a query, that no job has used. */
export function unknownModel(parameter: string, name: string): ServiceError {
  return invalidFilter(parameter, `no job has run ${name}; GET /models lists the models`);
}
