import type { CalendarDate } from '../basics/calendar.ts';
import { activeModelDays } from '../database/active-days.ts';
import type { Database } from '../database/database.ts';
import {
  pendingModelDays,
  readBySpans,
  type SkippedOnDate,
  type Skips,
} from '../database/model-days.ts';
import type { Run } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { skipReasons } from '../basics/domain.ts';
import type { DatePrices } from '../prices/needs.ts';
import { count, list } from '../basics/sentences.ts';
import type { Steps } from '../basics/turns.ts';
import type { Job } from './active-job.ts';

/** Why a job fails that has model-days to run, and prices for none of their dates. */
export const NO_DATES = 'No trading dates available after price data preparation';

/** Which of a job's model-days on one date to run, and which to skip. */
interface DatePlan {
  date: CalendarDate;
  run: ModelDay[];
  skips: Skips[];
}

/** By date. */
export type Plan = DatePlan[];

/**
 * Which of a job's model-days that have not ended to run, before prices are considered; in steps.
 */
export function* planJob(database: Database, job: Job): Steps<Plan> {
  const models = job.runs.map(({ model }) => model);
  const plans = yield* readBySpans(database, job.jobId, (span) => {
    const pending = pendingModelDays(database, job.jobId, span);
    return pending.length === 0
      ? []
      : planModelDays(pending, { ...job, completed: activeModelDays(database, models, span) });
  });
  return plans.flat();
}

/**
 * Which model-days to run, before prices are considered. Completed ones are skipped unless they are
 * to be replaced; in resume mode each model starts on its own date, replacing or not.
 */
export function planModelDays(
  modelDays: readonly ModelDay[],
  {
    runs,
    completed,
    replaceExisting,
  }: {
    runs: readonly Pick<Run, 'model' | 'startDate'>[];
    completed: readonly { date: CalendarDate; model: string }[];
    replaceExisting: boolean;
  },
): Plan {
  const startOf = new Map(runs.map(({ model, startDate }) => [model, startDate]));
  const isCompleted = new Set(completed.map(keyOf));
  const reasonToSkip = (modelDay: ModelDay) => {
    if (!replaceExisting && isCompleted.has(keyOf(modelDay))) return skipReasons.alreadyCompleted;
    return modelDay.date < (startOf.get(modelDay.model) ?? '')
      ? skipReasons.beforeResumeDate
      : null;
  };
  return [...Map.groupBy(modelDays, ({ date }) => date)].map(([date, ofDate]) => {
    const byReason = Map.groupBy(ofDate, reasonToSkip);
    const skips = [...byReason].flatMap(([reason, skipped]) =>
      reason === null ? [] : [{ reason, modelDays: skipped }],
    );
    return { date, run: byReason.get(null) ?? [], skips };
  });
}

/** Moves the model-days of dates without prices from those to run to those to skip. */
export function skipUnpricedDates(plan: Plan, dates: readonly DatePrices[]): Plan {
  const available = new Set(
    dates.filter(({ availability }) => availability === 'available').map(({ date }) => date),
  );
  return plan.map((day) => {
    if (day.run.length === 0 || available.has(day.date)) return day;
    return {
      ...day,
      run: [],
      skips: [...day.skips, { reason: skipReasons.noPriceData, modelDays: day.run }],
    };
  });
}

/** The dates on which there is something to run. */
export function datesToRun(plan: Plan): CalendarDate[] {
  return plan.filter(({ run }) => run.length > 0).map(({ date }) => date);
}

/** What was skipped of a job, as sentences with counts. */
export function skipWarnings(skipped: readonly SkippedOnDate[]): string[] {
  const countOf = (reason: string) =>
    skipped.reduce((sum, one) => (one.reason === reason ? sum + one.modelDays : sum), 0);
  const completed = countOf(skipReasons.alreadyCompleted);
  const early = countOf(skipReasons.beforeResumeDate);
  const unpriced = skipped
    .filter(({ reason }) => reason === skipReasons.noPriceData)
    .map(({ date }) => date);
  return [
    ...(completed > 0 ? [`Skipped ${count(completed, 'model-day')} already completed`] : []),
    ...(early > 0 ? [`Skipped ${count(early, 'model-day')} before the model's resume date`] : []),
    ...(unpriced.length > 0
      ? [`Skipped ${count(unpriced.length, 'date')} without price data: ${list(unpriced)}`]
      : []),
  ];
}

function keyOf({ date, model }: { date: CalendarDate; model: string }): string {
  return `${date} ${model}`;
}
