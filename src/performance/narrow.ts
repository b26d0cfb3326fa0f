import type { CalendarDate } from '../calendar.ts';
import { dailyReturns } from '../database/records/returns.ts';
import { newestRun } from '../database/records/runs.ts';
import { type Choice, chosenBatches } from './choice.ts';
import {
  type LeftOutDay,
  type LeftOutModel,
  type SharedReturns,
  commonDatesOf,
} from './common-dates.ts';
import { MIN_DAYS_FOR_RISK } from './conventions.ts';

/** Which of the chosen model-days count. */
export interface Restrictions {
  /**
   * Only those after the latest knowledge cutoff of the chosen models, and after each model's own.
   */
  isClean: boolean;
  /** Only those of dates on which every ranked model has a return from the same close. */
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
  const ordered = [...dates].sort();
  const common = {
    start: ordered[0] ?? null,
    end: ordered.at(-1) ?? null,
    days: dates.size,
    leftOut,
    leftOutDays,
  };
  return { ...clean, choice: { ...choice, models, dates }, common };
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
