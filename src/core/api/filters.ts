import * as v from 'valibot';
import type { FeedFilters, JobWindow, SessionFilters } from '#database/session-filters.ts';
import type { Database } from '#database/database.ts';
import { statusOfJob } from '#database/job-queries.ts';
import { invalidFilter, ServiceError } from '#domain/service-error.ts';
import { dateText, jobFilter, modelFilter, namesFilter, studyFilter } from './schemas.ts';
import { resolveStudy, type StudyContext } from './studies.ts';
import { knownRuns, runsOfStudy } from '#database/records/model-records.ts';

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
export function parseFilters(query: DaysQuery): SessionFilters {
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
export function checkNames(database: Database, { jobId, model }: SessionFilters): void {
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
 * The model-days that a query selects. Throws a `ServiceError` for both `model` and `models`, for a
 * name that no job has run, for a job that does not exist, and for dates out of order.
 */
export function feedFilters(context: StudyContext, given: DaysQuery): FeedFilters {
  const { database } = context;
  const query = resolveStudy(context, given);
  const filters = parseFilters(query);
  checkNames(database, filters);
  const { jobId, model, startDate, endDate } = filters;
  const named =
    query.models === undefined ? undefined : resolveRuns(database, query.models.split(','));
  const models = model === undefined ? named : [model];
  const { study } = query;
  const runs = study === undefined ? [] : runsOfStudy(database, study);
  const ofStudy =
    study === undefined ? models : runs.filter((run) => models?.includes(run) ?? true);
  return { jobId, startDate, endDate, models: ofStudy };
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
