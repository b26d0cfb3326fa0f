import { addDays, type CalendarDate } from '../basics/calendar.ts';
import { countActiveDays, type SessionFilters } from '../database/session-filters.ts';
import type { Database } from '../database/database.ts';
import { dailyReturns, failedModelDays } from '../database/records/returns.ts';
import { type ChosenDay, chosenDays } from '../database/records/performance.ts';
import { medianOf } from '../statistics/moments.ts';
import type { ModelPeriod } from './comparability.ts';
import { count } from '../basics/sentences.ts';
import { newestRun } from '../database/records/models.ts';
import { MIN_DAYS_FOR_RISK } from './figure.ts';

/**
 * Which model-days the figures cover: those that match the filters.
 */
export interface Choice {
  database: Database;
  filters: SessionFilters;
  /** Instead of the one model of the filters, if given. */
  models?: readonly string[] | undefined;
  /**
   * The named models' last dates that do not count, if given; of models without one, all dates
   * count.
   */
  after?: ReadonlyMap<string, CalendarDate> | undefined;
  /** By model, only these dates, if given. */
  dates?: ReadonlyMap<string, ReadonlySet<CalendarDate>> | undefined;
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
  models,
  after,
  dates,
}: Choice): Generator<ChosenDay[]> {
  for (const model of models ?? [filters.model]) {
    const own = startingAfter({ ...filters, model }, after?.get(model ?? ''));
    for (const batch of chosenDays(database, own))
      yield dates === undefined
        ? batch
        : batch.filter((day) => dates.get(day.model)?.has(day.date) === true);
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
      if (dates !== undefined && dates.get(model)?.has(date) !== true) continue;
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

/**
 * The returns that models share: half a million model-days are as many small numbers, not texts.
 */
export interface SharedReturns {
  models: readonly string[];
  /**
   * By date, and by the date that the return starts from (null for initial cash): the places in
   * `models` of those that have it.
   */
  byDate: ReadonlyMap<CalendarDate, ReadonlyMap<CalendarDate | null, readonly number[]>>;
}

/** A model that is not ranked over the common dates, and why. */
export interface LeftOutModel {
  model: string;
  reason: string;
}

/** A date that only some ranked models share: how many do not, and the first of their names. */
export interface LeftOutDay {
  date: CalendarDate;
  missing: number;
  models: string[];
}

/** The names per left-out day; a response must not grow with the product of days and models. */
const MAX_NAMED = 5;

/** What the ranked models have in common. */
export interface CommonDates {
  dates: ReadonlySet<CalendarDate>;
  /** In order. */
  leftOutDays: LeftOutDay[];
  /** Those that are ranked. */
  models: string[];
  leftOut: LeftOutModel[];
}

/**
 * The dates on which every ranked model has a return, and all of them from the same close. After a
 * day that a model missed, its next return covers both, so that date is not common either: the
 * models would be compared over different times. A model with fewer than half of the median number
 * of days is not ranked: it would cost the others too many. Of several starts of a date, the one
 * that most models share counts; of equally many, the first. In steps: of one date.
 */
export function commonDatesOf({ models, byDate }: SharedReturns): CommonDates {
  const days = models.map(() => 0);
  for (const byStart of byDate.values()) {
    for (const places of byStart.values())
      for (const place of places) days[place] = (days[place] ?? 0) + 1;
  }
  const median = medianOf(days);
  const isRanked = days.map((own) => own >= median / 2);
  const nameOf = (place: number) => models[place] ?? '';
  const byName = [...models.keys()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const ranked = byName.filter((place) => isRanked[place]);
  const dates = new Set<CalendarDate>();
  const leftOutDays: LeftOutDay[] = [];
  for (const date of [...byDate.keys()].sort()) {
    const groups = byDate.get(date)?.values() ?? [];
    let sharing: number[] = [];
    for (const places of groups) {
      const own = places.filter((place) => isRanked[place]);
      if (own.length > sharing.length) sharing = own;
    }
    if (sharing.length === ranked.length) dates.add(date);
    else if (sharing.length > 0) {
      const found = new Set(sharing);
      const without = ranked.filter((place) => !found.has(place));
      leftOutDays.push(leftOutDay(date, without.map(nameOf)));
    }
  }
  const reasonOf = (place: number) =>
    `It has ${count(days[place] ?? 0, 'day')} with a return, fewer than half the median of ${count(median, 'day')}`;
  const leftOut = byName
    .filter((place) => !isRanked[place])
    .map((place) => ({ model: nameOf(place), reason: reasonOf(place) }));
  return { dates, leftOutDays, models: ranked.map(nameOf), leftOut };
}

/** Which of the chosen model-days count. */
export interface Restrictions {
  /**
   * Only those after the latest knowledge cutoff of the chosen models, and after each model's own.
   */
  isClean: boolean;
  /** Only those of dates on which every ranked model has a return that starts from the same close. */
  isCommon: boolean;
}

/** A choice after its restrictions, and what they left out. */
export interface NarrowedChoice {
  choice: Choice;
  /** Only later days count; null when no cutoff restricts them. */
  cleanAfter: CalendarDate | null;
  withoutCleanDays: LeftOutModel[];
  /** What the ranked models have in common; null unless only that counts. */
  common: CommonDays | null;
}

/** The first and the last common date, null without any, and how many there are. */
export interface CommonDays {
  start: CalendarDate | null;
  end: CalendarDate | null;
  days: number;
  leftOut: LeftOutModel[];
  leftOutDays: LeftOutDay[];
}

/** Restricts a choice, first to clean days and then to common ones. */
export function narrowChoice(wanted: Choice, { isClean, isCommon }: Restrictions): NarrowedChoice {
  const clean = isClean
    ? cleanDays(wanted)
    : { choice: wanted, cleanAfter: null, withoutCleanDays: [] };
  if (!isCommon) return { ...clean, common: null };
  const { choice } = clean;
  const { dates, models, leftOut, leftOutDays } = commonDatesOf(sharedReturns(choice));
  return {
    ...clean,
    choice: { ...choice, models, dates: new Map(models.map((model) => [model, dates])) },
    common: { ...spanOf([...dates].sort()), leftOut, leftOutDays },
  };
}

/** The ends of some dates in order, and how many they are. */
export function spanOf(dates: readonly CalendarDate[]): Pick<CommonDays, 'start' | 'end' | 'days'> {
  return { start: dates[0] ?? null, end: dates.at(-1) ?? null, days: dates.length };
}

/** A date that some of the ranked models do not share, with the first of their names. */
export function leftOutDay(date: CalendarDate, models: readonly string[]): LeftOutDay {
  return { date, missing: models.length, models: models.slice(0, MAX_NAMED) };
}

/** What a knowledge cutoff leaves of a model's chosen days. */
interface CleanRecord {
  cutoff: CalendarDate | null;
  /** Days after the cutoff. */
  cleanDays: number;
  last: CalendarDate;
}

/**
 * Keeps the days after the latest knowledge cutoff that counts, and of each model only those after
 * its own. A cutoff counts if its model has enough later days: `MIN_DAYS_FOR_RISK`, or half as many
 * as the model with the most, if that is fewer. Otherwise one model with few clean days would cost
 * all others theirs.
 */
function cleanDays(
  choice: Choice,
): Pick<NarrowedChoice, 'choice' | 'cleanAfter' | 'withoutCleanDays'> {
  const records = cleanRecords(choice);
  const most = records.values().reduce((days, { cleanDays: own }) => Math.max(days, own), 0);
  const enough = Math.max(1, Math.min(MIN_DAYS_FOR_RISK, most / 2));
  let cleanAfter: CalendarDate | null = null;
  for (const { cutoff, cleanDays: days } of records.values())
    if (cutoff !== null && days >= enough && cutoff > (cleanAfter ?? '')) cleanAfter = cutoff;
  const after = new Map<string, CalendarDate>();
  const withoutCleanDays: LeftOutModel[] = [];
  for (const [model, { cutoff, last }] of records) {
    const [end, whose] =
      (cutoff ?? '') > (cleanAfter ?? '') ? [cutoff, 'its'] : [cleanAfter, 'the latest'];
    if (end === null) continue;
    after.set(model, end);
    if (last > end) continue;
    withoutCleanDays.push({
      model,
      reason: `Its last model-day, ${last}, is not after ${whose} knowledge cutoff, ${end}`,
    });
  }
  const left = new Set(withoutCleanDays.map(({ model }) => model));
  const models = [...records.keys()].filter((model) => !left.has(model));
  return { choice: { ...choice, models, after }, cleanAfter, withoutCleanDays };
}

/** By model. */
function cleanRecords(choice: Choice): Map<string, CleanRecord> {
  const records = new Map<string, CleanRecord>();
  for (const batch of chosenBatches(choice)) {
    for (const { model, date } of batch) {
      const known = records.get(model) ?? {
        cutoff: newestRun(choice.database, model)?.knowledgeCutoff ?? null,
        cleanDays: 0,
        last: date,
      };
      records.set(model, known);
      if (known.cutoff === null || date > known.cutoff) known.cleanDays += 1;
      known.last = date;
    }
  }
  return inOrder(records);
}

/** Which of the chosen models have a return on which of the chosen days. */
function sharedReturns(choice: Choice): SharedReturns {
  const places = new Map<string, number>();
  const byDate = new Map<CalendarDate, Map<CalendarDate | null, number[]>>();
  for (const batch of chosenBatches(choice)) {
    const returns = dailyReturns(choice.database, batch);
    for (const [index, { model, date, startDate }] of batch.entries()) {
      const place = places.get(model) ?? places.size;
      places.set(model, place);
      if (typeof returns[index] !== 'number') continue;
      const byStart = byDate.get(date) ?? new Map<CalendarDate | null, number[]>();
      const sharing = byStart.get(startDate) ?? [];
      sharing.push(place);
      byDate.set(date, byStart.set(startDate, sharing));
    }
  }
  return { models: [...places.keys()], byDate };
}

function inOrder<Value>(byModel: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map([...byModel].sort(([one], [other]) => (one < other ? -1 : 1)));
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
  const models: LeftOutModel[] = [];
  for (const [model, failures] of [...failed].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (
      failures === 0 ||
      named?.includes(model) === false ||
      countActiveDays(database, model, filters) > 0
    )
      continue;
    models.push({
      model,
      reason: `${count(failures, 'model-day')} failed, and none was completed`,
    });
  }
  return models;
}
