import { type CalendarDate, addDays } from '../calendar.ts';
import type { SessionFilters } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import { failedModelDays } from '../database/records/failed-days.ts';
import { type ChosenDay, chosenDays } from '../database/records/performance.ts';
import type { ModelPeriod } from './comparability.ts';

/**
 * Which model-days the figures cover: those that match the filters, as of a change of the ledger.
 */
export interface Choice {
  database: Database;
  filters: SessionFilters;
  at: number;
  /** Instead of the one model of the filters, if given. */
  models?: readonly string[] | undefined;
  /**
   * The named models' last dates that do not count, if given; of models without one, all dates
   * count.
   */
  after?: ReadonlyMap<string, CalendarDate> | undefined;
  /** Only these dates, if given. */
  dates?: ReadonlySet<CalendarDate> | undefined;
}

/** All chosen model-days in brief, read before the figures of each model. */
export interface ChosenDays {
  /** By model. */
  periods: ModelPeriod[];
  /** One per date, start and job: all that the benchmark needs. */
  days: ChosenDay[];
  /** By model: how many model-days of the chosen period have failed and were not completed. */
  failed: ReadonlyMap<string, number>;
}

/**
 * The chosen model-days in batches, some of them empty: by date and model or, where models are
 * named, by model and date.
 */
export function* chosenBatches({
  database,
  filters,
  at,
  models,
  after,
  dates,
}: Choice): Generator<ChosenDay[]> {
  for (const model of models ?? [filters.model]) {
    const own = startingAfter({ ...filters, model }, after?.get(model ?? ''));
    for (const batch of chosenDays(database, own, at))
      yield dates === undefined ? batch : batch.filter(({ date }) => dates.has(date));
  }
}

function startingAfter(filters: SessionFilters, date: CalendarDate | undefined): SessionFilters {
  if (date === undefined || (filters.startDate !== undefined && filters.startDate > date))
    return filters;
  return { ...filters, startDate: addDays(date, 1) };
}

/** Reads every model-day once and keeps only a little of each. */
export function readChosenDays(choice: Choice): ChosenDays {
  const failed = failedModelDays(choice.database, choice.filters);
  const periods = new Map<string, ModelPeriod & { jobIds: Set<string> }>();
  const days = new Map<string, ChosenDay>();
  const { dates } = choice;
  for (const batch of chosenBatches({ ...choice, dates: undefined })) {
    for (const day of batch) {
      const { model, date, jobId, startDate } = day;
      failed.get(model)?.delete(date);
      if (dates?.has(date) === false) continue;
      const period = periods.get(model) ?? {
        model,
        start: date,
        end: date,
        days: 0,
        jobIds: new Set(),
      };
      period.end = date;
      period.days += 1;
      period.jobIds.add(jobId);
      periods.set(model, period);
      const key = `${date} ${startDate} ${jobId}`;
      if (!days.has(key)) days.set(key, day);
    }
  }
  const byModel = [...periods.values()].sort((one, other) => (one.model < other.model ? -1 : 1));
  return { periods: byModel, days: [...days.values()], failed: countFailures(failed, choice) };
}

/** By model: how many of its failed dates are late enough to count. */
function countFailures(
  failed: ReadonlyMap<string, ReadonlySet<CalendarDate>>,
  { after }: Choice,
): Map<string, number> {
  const countAfter = (dates: ReadonlySet<CalendarDate>, end: string) =>
    dates
      .values()
      .filter((date) => date > end)
      .toArray().length;
  return new Map(
    [...failed].map(([model, dates]) => [model, countAfter(dates, after?.get(model) ?? '')]),
  );
}
