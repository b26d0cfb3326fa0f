import { type CalendarDate, addDays } from '../calendar.ts';
import { dailyReturns } from '../database/records/returns.ts';
import { newestRun } from '../database/records/runs.ts';
import type { Steps } from '../turns.ts';
import { type Choice, chosenBatches } from './choice.ts';
import { type LeftOutDay, type LeftOutModel, commonDatesOf } from './common-dates.ts';

/** Which of the chosen model-days count. */
export interface Restrictions {
  /** Only those after the latest knowledge cutoff of the chosen models. */
  isClean: boolean;
  /** Only those of dates on which every ranked model has a return. */
  isCommon: boolean;
}

/** A choice after its restrictions, and what they left out. */
export interface NarrowedChoice {
  choice: Choice;
  /** Only later days count; null when no cutoff restricts them. */
  cleanAfter: CalendarDate | null;
  /** Models of which no day is clean. */
  unclean: LeftOutModel[];
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

export function* narrowChoice(wanted: Choice, { isClean, isCommon }: Restrictions): Steps<NarrowedChoice> {
  const { choice, cleanAfter, unclean } = isClean ? yield* cleanDays(wanted) : { choice: wanted, cleanAfter: null, unclean: [] };
  if (!isCommon) return { choice, cleanAfter, unclean, common: null };
  const { dates, models, leftOut, leftOutDays } = commonDatesOf(yield* returnDates(choice));
  const ordered = [...dates].sort();
  const common = { start: ordered[0] ?? null, end: ordered.at(-1) ?? null, days: dates.size, leftOut, leftOutDays };
  return { choice: { ...choice, models, dates }, cleanAfter, unclean, common };
}

/**
 * Keeps the days after the latest knowledge cutoff. A cutoff on or after its model's last day does not count: that model has no
 * clean day, and must not cost the others theirs.
 */
function* cleanDays(choice: Choice): Steps<Pick<NarrowedChoice, 'choice' | 'cleanAfter' | 'unclean'>> {
  const lasts = yield* lastDates(choice);
  const cutoffs = new Map<string, CalendarDate>();
  for (const model of lasts.keys()) {
    const cutoff = newestRun(choice.database, model)?.knowledgeCutoff ?? null;
    if (cutoff !== null) cutoffs.set(model, cutoff);
    yield null;
  }
  let cleanAfter: CalendarDate | null = null;
  for (const [model, cutoff] of cutoffs)
    if (cutoff < (lasts.get(model) ?? '') && (cleanAfter === null || cutoff > cleanAfter)) cleanAfter = cutoff;
  const unclean: LeftOutModel[] = [];
  for (const [model, last] of lasts) {
    const cutoff = cutoffs.get(model);
    if (cutoff !== undefined && cutoff >= last)
      unclean.push({ model, reason: `Its last model-day, ${last}, is not after its knowledge cutoff, ${cutoff}` });
    else if (cleanAfter !== null && cleanAfter >= last)
      unclean.push({ model, reason: `Its last model-day, ${last}, is not after the latest knowledge cutoff, ${cleanAfter}` });
  }
  const left = new Set(unclean.map(({ model }) => model));
  const models = [...lasts.keys()].filter((model) => !left.has(model));
  return { choice: { ...choice, models, filters: startingAfter(choice.filters, cleanAfter) }, cleanAfter, unclean };
}

function startingAfter(filters: Choice['filters'], date: CalendarDate | null): Choice['filters'] {
  if (date === null || (filters.startDate !== undefined && filters.startDate > date)) return filters;
  return { ...filters, startDate: addDays(date, 1) };
}

/** The last chosen date of each model, by model. */
function* lastDates(choice: Choice): Steps<Map<string, CalendarDate>> {
  const lasts = new Map<string, CalendarDate>();
  for (const batch of chosenBatches(choice)) {
    for (const { model, date } of batch) lasts.set(model, date);
    yield null;
  }
  return inOrder(lasts);
}

/** The chosen dates on which each model has a return, by model. */
function* returnDates(choice: Choice): Steps<{ model: string; dates: CalendarDate[] }[]> {
  const dates = new Map<string, CalendarDate[]>();
  for (const batch of chosenBatches(choice)) {
    const returns = dailyReturns(choice.database, batch);
    for (const [index, { model, date }] of batch.entries()) {
      const own = dates.get(model) ?? [];
      if (typeof returns[index] === 'number') own.push(date);
      dates.set(model, own);
    }
    yield null;
  }
  return [...inOrder(dates)].map(([model, own]) => ({ model, dates: own }));
}

function inOrder<Value>(byModel: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map([...byModel].sort(([one], [other]) => (one < other ? -1 : 1)));
}
