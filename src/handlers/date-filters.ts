import * as v from 'valibot';
import type { JobWindow, SessionFilters } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import { jobExists } from '../database/jobs.ts';
import { ServiceError } from '../domain.ts';
import { dateText } from './schemas.ts';

/** A range of dates, both ends included; either end may be omitted. */
export const dateRangeEntries = {
  start_date: v.optional(v.pipe(dateText, v.description('The first date, inclusive.'))),
  end_date: v.optional(v.pipe(dateText, v.description('The last date, inclusive.'))),
};

/**
 * The model-days that a query selects. Throws a `ServiceError` for both `model` and `models`, for
 * both a date and a range, and for a range that ends before it starts.
 */
export function filtersOf(query: {
  job_id?: string | undefined;
  model?: string | undefined;
  models?: string | undefined;
  date?: string | undefined;
  start_date?: string | undefined;
  end_date?: string | undefined;
}): SessionFilters {
  const { job_id: jobId, model, date, start_date: startDate, end_date: endDate } = query;
  if (model !== undefined && query.models !== undefined)
    throw new ServiceError(
      'invalid_filter',
      'models: cannot be combined with model; name all models in models',
    );
  if (startDate !== undefined && endDate !== undefined && startDate > endDate)
    throw new ServiceError(
      'invalid_dates',
      `Invalid date range: start_date ${startDate} is after end_date ${endDate}`,
    );
  if (date === undefined) return { jobId, model, startDate, endDate };
  if (startDate !== undefined || endDate !== undefined)
    throw new ServiceError(
      'invalid_filter',
      'date: cannot be combined with start_date and end_date; give one date or a range',
    );
  return { jobId, model, startDate: date, endDate: date };
}

/** Throws a `ServiceError` (`job_not_found`) for the filter of a job that does not exist. */
export function checkJob(database: Database, { jobId }: JobWindow): void {
  if (jobId !== undefined && !jobExists(database, jobId))
    throw new ServiceError('job_not_found', `Job ${jobId} not found`);
}
