import assert from 'node:assert/strict';
import { addDays, type CalendarDate, countDays, weekdays } from '../calendar.ts';
import type { Run } from '../database/jobs.ts';
import { ServiceError } from '../domain.ts';

/**
 * The beginning of the refusal when resume mode has nothing left to do; the command line knows it
 * by these words.
 */
export const NOTHING_TO_RESUME = 'Nothing to resume up to';

export interface RangeRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  models: readonly string[];
}

export interface RangeFacts {
  /** The date through which a model is simulated; null when it has no completed day. */
  simulatedThrough: (model: string) => CalendarDate | null;
  /** Today in UTC. */
  today: CalendarDate;
  maxSimulationDays: number;
}

export interface JobRange {
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
  { startDate, endDate, models }: RangeRequest,
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
      `${NOTHING_TO_RESUME} ${endDate}: every model is already simulated through ${addDays(earliest, -1)}`,
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
