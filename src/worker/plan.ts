import type { CalendarDate } from '../calendar.ts';
import type { Run } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { skipReasons } from '../domain.ts';
import type { DatePrices } from '../prices/coverage.ts';
import { count, list } from '../sentences.ts';

/** Why a job fails that has model-days to run, and prices for none of their dates. */
export const NO_DATES = 'No trading dates available after price data preparation';

export interface Skip {
  modelDay: ModelDay;
  reason: string;
}

/** Which of a job's model-days to run, and which to skip. */
export interface Plan {
  run: ModelDay[];
  skips: Skip[];
}

/**
 * Which model-days a job has to run, before prices are considered. Completed ones are skipped unless they are to be replaced;
 * in resume mode each model starts on its own date, replacing or not.
 */
export function planModelDays(
  modelDays: readonly ModelDay[],
  {
    runs,
    completed,
    replaceExisting,
  }: { runs: readonly Run[]; completed: readonly { date: CalendarDate; model: string }[]; replaceExisting: boolean },
): Plan {
  const startOf = new Map(runs.map(({ model, startDate }) => [model, startDate]));
  const isCompleted = new Set(completed.map(keyOf));
  return divide(modelDays, (modelDay) => {
    if (!replaceExisting && isCompleted.has(keyOf(modelDay))) return skipReasons.alreadyCompleted;
    return modelDay.date < (startOf.get(modelDay.model) ?? '') ? skipReasons.beforeResumeDate : null;
  });
}

/** Moves the model-days of dates without prices from those to run to those to skip. */
export function skipUnpricedDates(plan: Plan, dates: readonly DatePrices[]): Plan {
  const available = new Set(dates.filter(({ availability }) => availability === 'available').map(({ date }) => date));
  const { run, skips } = divide(plan.run, ({ date }) => (available.has(date) ? null : skipReasons.noPriceData));
  return { run, skips: [...plan.skips, ...skips] };
}

/** A plan's skips as sentences with counts. */
export function skipWarnings({ skips }: Plan): string[] {
  const reasons = Map.groupBy(skips, ({ reason }) => reason);
  const completed = reasons.get(skipReasons.alreadyCompleted)?.length ?? 0;
  const early = reasons.get(skipReasons.beforeResumeDate)?.length ?? 0;
  const unpriced = [...new Set(reasons.get(skipReasons.noPriceData)?.map(({ modelDay }) => modelDay.date) ?? [])];
  return [
    ...(completed > 0 ? [`Skipped ${count(completed, 'model-day')} already completed`] : []),
    ...(early > 0 ? [`Skipped ${count(early, 'model-day')} before the model's resume date`] : []),
    ...(unpriced.length > 0 ? [`Skipped ${count(unpriced.length, 'date')} without price data: ${list(unpriced)}`] : []),
  ];
}

function divide(modelDays: readonly ModelDay[], reasonToSkip: (modelDay: ModelDay) => string | null): Plan {
  const plan: Plan = { run: [], skips: [] };
  for (const modelDay of modelDays) {
    const reason = reasonToSkip(modelDay);
    if (reason === null) plan.run.push(modelDay);
    else plan.skips.push({ modelDay, reason });
  }
  return plan;
}

function keyOf({ date, model }: { date: CalendarDate; model: string }): string {
  return `${date} ${model}`;
}
