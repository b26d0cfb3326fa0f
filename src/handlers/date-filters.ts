import * as v from 'valibot';
import type { SessionFilters } from '../database/chosen.ts';
import { ServiceError } from '../domain.ts';
import { dateText } from './schemas.ts';

/** A range of dates, both ends included; each may stand alone. */
export const dateRangeEntries = {
  start_date: v.optional(v.pipe(dateText, v.description('The first date, inclusive.'))),
  end_date: v.optional(v.pipe(dateText, v.description('The last date, inclusive.'))),
};

/** The dates that a query lets through: one, or a range. Throws a `ServiceError` for both, and for a range without a date. */
export function datesOf(query: {
  date?: string | undefined;
  start_date?: string | undefined;
  end_date?: string | undefined;
}): Pick<SessionFilters, 'startDate' | 'endDate'> {
  const { date, start_date: startDate, end_date: endDate } = query;
  if (startDate !== undefined && endDate !== undefined && startDate > endDate)
    throw new ServiceError('invalid_dates', `Invalid date range: start_date ${startDate} is after end_date ${endDate}`);
  if (date === undefined) return { startDate, endDate };
  if (startDate !== undefined || endDate !== undefined)
    throw new ServiceError('invalid_filter', 'date: cannot be combined with start_date and end_date; give one date or a range');
  return { startDate: date, endDate: date };
}
