import type { Database } from '../database/database.ts';
import { addWarnings, modelsOfJob } from '../database/jobs.ts';
import { type SkippedOnDate, unreadDays } from '../database/model-days.ts';
import { staleModelDays } from '../database/stale.ts';
import { skipReasons } from '../basics/domain.ts';
import { count, linesOf, list } from '../basics/sentences.ts';

/** Why a job fails that has model-days to run, and prices for none of their dates. */
export const NO_DATES = 'No trading dates available after price data preparation';

/** What was skipped of a job, as sentences with counts. */
export function skipWarnings(skipped: readonly SkippedOnDate[]): string[] {
  const countOf = (reason: string) =>
    skipped.reduce((sum, one) => (one.reason === reason ? sum + one.modelDays : sum), 0);
  const completed = countOf(skipReasons.alreadyCompleted);
  const early = countOf(skipReasons.beforeResumeDate);
  const unpriced = skipped.flatMap(({ reason, date }) =>
    reason === skipReasons.noPriceData ? date : [],
  );
  return linesOf([
    completed > 0 && `Skipped ${count(completed, 'model-day')} already completed`,
    early > 0 && `Skipped ${count(early, 'model-day')} before the model's resume date`,
    unpriced.length > 0 &&
      `Skipped ${count(unpriced.length, 'date')} without price data: ${list(unpriced)}`,
  ]);
}

/** Stale model-days named in a job's warning. */
const MAX_NAMED = 20;

/**
 * Warns of the days of a job without an answer that could be read, and of the stale model-days of
 * its models, within the transaction that ends or discards it.
 */
export function warnOfDays(database: Database, jobId: string): void {
  for (const { family, days } of unreadDays(database, jobId)) {
    const message = `'${family}' gave no answer that could be read on ${count(days, 'model-day')}`;
    addWarnings(database, jobId, [{ code: 'unread', message }]);
  }
  const models = modelsOfJob(database, jobId).sort();
  const { first, total, remedy } = staleModelDays(database, models, { most: MAX_NAMED });
  if (total === 0) return;
  const named = list(
    first.map(({ model, date }) => `${model} ${date}`),
    { total },
  );
  addWarnings(database, jobId, [
    `${count(total, 'stale model-day')}, whose start, prices, splits or dividends have changed since: ${named}; ${remedy}`,
  ]);
}
