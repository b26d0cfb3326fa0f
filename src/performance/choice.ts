import type { CalendarDate } from '../basics/calendar.ts';
import { count } from '../basics/sentences.ts';
import type { Database } from '../database/database.ts';
import { newestRun } from '../database/records/models.ts';
import {
  type ChosenDay,
  chosenDays,
  modelsIn,
  failedModelDays,
} from '../database/records/performance.ts';
import { countActiveDays, type JobWindow } from '../database/session-filters.ts';
import type { ModelPeriod } from './comparability.ts';
import { MIN_DAYS_FOR_RISK } from './figure.ts';

/** Which model-days the figures cover. */
export interface Choice {
  database: Database;
  filters: JobWindow;
  /** The named models; if absent, all that may have model-days which match the filters. */
  models?: readonly string[] | undefined;
  /**
   * The named models' last dates that do not count, if given; of models without one, all dates
   * count.
   */
  after?: ReadonlyMap<string, CalendarDate> | undefined;
  /** By model, only these dates, if given. */
  dates?: ReadonlyMap<string, ReadonlySet<CalendarDate>> | undefined;
}

/** The models of a choice; some may have no model-day. */
export function modelsOf({ database, filters, models }: Choice): Iterable<string> {
  return models ?? modelsIn(database, filters);
}

/** The chosen model-days of a model, by date. */
export function daysOf(choice: Choice, model: string): ChosenDay[] {
  const { database, filters } = choice;
  return chosenDays(database, model, filters).filter(({ date }) => counts(choice, model, date));
}

function counts({ after, dates }: Choice, model: string, date: CalendarDate): boolean {
  return (
    date > (after?.get(model) ?? '') &&
    (dates === undefined || dates.get(model)?.has(date) === true)
  );
}

/**
 * All chosen model-days in brief, read before the figures of each model. Reads every model-day once
 * and keeps only a little of each.
 */
export function readChosenDays(choice: Choice) {
  const { database, filters, after } = choice;
  const failed = failedModelDays(database, filters);
  const periods: ModelPeriod[] = [];
  const days = new Map<string, ChosenDay>();
  for (const model of modelsOf(choice)) {
    const completed = daysOf({ ...choice, dates: undefined }, model);
    for (const { date } of completed) failed.get(model)?.delete(date);
    const own = completed.filter(({ date }) => counts(choice, model, date));
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    const jobIds = new Set(own.map(({ jobId }) => jobId));
    periods.push({ model, start: first.date, end: last.date, days: own.length, jobIds });
    for (const day of own) {
      const key = `${day.date} ${day.startDate} ${day.jobId}`;
      if (!days.has(key)) days.set(key, day);
    }
  }
  return {
    /** By model. */
    periods,
    /** One per date, start and job: all that the benchmark needs. */
    days: [...days.values()],
    /** By model: how many model-days of the chosen period have failed and were not completed. */
    failed: new Map(
      Array.from(failed, ([model, dates]) => [
        model,
        [...dates].filter((date) => date > (after?.get(model) ?? '')).length,
      ]),
    ),
  };
}

/** A model that is left out, and why. */
export interface LeftOutModel {
  model: string;
  reason: string;
}

/**
 * Keeps the days after the latest knowledge cutoff that counts, and of each model only those after
 * its own. A cutoff counts if its model has enough later days: `MIN_DAYS_FOR_RISK`, or half as many
 * as the model with the most, if that is fewer. Otherwise one model with few clean days would cost
 * all others theirs.
 */
export function cleanDays(choice: Choice) {
  const records = [...modelsOf(choice)].flatMap((model) => {
    const days = daysOf(choice, model).map(({ date }) => date);
    const last = days.at(-1);
    const cutoff = newestRun(choice.database, model)?.knowledgeCutoff ?? '';
    return last === undefined
      ? []
      : [{ model, cutoff, last, clean: days.filter((date) => date > cutoff).length }];
  });
  const most = records.reduce((days, { clean }) => Math.max(days, clean), 0);
  const enough = Math.max(1, Math.min(MIN_DAYS_FOR_RISK, most / 2));
  const latest = records.reduce(
    (date, { cutoff, clean }) => (clean >= enough && cutoff > date ? cutoff : date),
    '',
  );
  const after = new Map(
    records.map(({ model, cutoff }) => [model, cutoff > latest ? cutoff : latest]),
  );
  const without = records.filter(({ model, last }) => last <= (after.get(model) ?? ''));
  return {
    choice: {
      ...choice,
      models: records.filter((record) => !without.includes(record)).map(({ model }) => model),
      after,
    },
    /** Only later days count; null when no cutoff restricts them. */
    cleanAfter: latest || null,
    withoutCleanDays: without.map(({ model, cutoff, last }) => ({
      model,
      reason: `Its last model-day, ${last}, is not after ${cutoff > latest ? 'its' : 'the latest'} knowledge cutoff, ${after.get(model)}`,
    })),
    /** As `narrowToShared` has it. */
    common: null,
  };
}

/**
 * The models, all or only the named ones, with failed model-days that match the filters and no
 * completed one. They have no figures; a response that did not list them would hide them. `failed`
 * counts the failed model-days by model.
 */
export function modelsWithoutCompletedDays(
  { database, filters }: Choice,
  failed: ReadonlyMap<string, number>,
  named: readonly string[] | undefined,
): LeftOutModel[] {
  return [...failed]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .filter(
      ([model, failures]) =>
        failures > 0 &&
        named?.includes(model) !== false &&
        countActiveDays(database, model, filters) === 0,
    )
    .map(([model, failures]) => ({
      model,
      reason: `${count(failures, 'model-day')} failed, and none was completed`,
    }));
}
