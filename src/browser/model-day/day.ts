import type { ResultsRecord } from '../responses.ts';

/** One model-day from its records: its actions, and the portfolio at the close. */
export interface Day {
  date: string;
  jobId: string;
  records: readonly ResultsRecord[];
  close: ResultsRecord;
}

/** The model-days of one model, in order, from its records (which come by date and action). */
export function daysOf(records: readonly ResultsRecord[]): Day[] {
  return [...Map.groupBy(records, ({ date }) => date)].flatMap(([date, own]) => {
    const close = own.at(-1);
    return close === undefined ? [] : [{ date, jobId: close.job_id, records: own, close }];
  });
}

/** The shares held after a record, by symbol. */
export function sharesIn({ holdings }: Pick<ResultsRecord, 'holdings'>): Map<string, number> {
  return new Map(holdings.map(({ symbol, quantity }) => [symbol, quantity]));
}

/**
 * In dollars: a price has four decimals, so a dividend may have paid this much more or less per
 * share.
 */
const MAX_ROUNDED_OFF = 0.00005;

/**
 * The dollars of a trade, or those that a dividend paid; `before` is the model's record before it.
 */
export function amountOf(
  { action_type, price, amount, cash }: ResultsRecord,
  before: { cash: number } | undefined,
): number | null {
  if (price === null || amount === null) return null;
  const product = price * amount;
  if (action_type !== 'dividend' || before === undefined) return product;
  // The change in cash is exact, but a stale day started from another record than the one before
  // it.
  const change = cash - before.cash;
  return Math.abs(change - product) <= MAX_ROUNDED_OFF * (amount + 1) ? change : product;
}

/**
 * The dividends received on a day, in dollars; null when there were none. `before` is the portfolio
 * before the day.
 */
export function dividendsOf({ records }: Day, before: { cash: number } | undefined): number | null {
  const amounts = records.flatMap((record, index) =>
    record.action_type === 'dividend' ? [amountOf(record, records[index - 1] ?? before) ?? 0] : [],
  );
  return amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0);
}
