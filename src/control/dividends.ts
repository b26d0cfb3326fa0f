import type { CalendarDate } from '../calendar.ts';
import { dividendCoverage, dividendsBetween } from '../database/dividends.ts';
import type { Reader } from '../database/database.ts';
import type { Split } from '../database/market.ts';
import { paysNothing } from '../database/records/held.ts';
import { ServiceError } from '../domain.ts';
import { gapsBetween } from '../prices/coverage.ts';
import { MAX_CASH } from '../prices/formats/dividends.ts';
import { cashPerShare } from '../trading/morning.ts';
import { type Disguise, shiftBack } from './key.ts';
import { scaleOf } from './rows.ts';

/** Cash per share comes in 1/1,000,000 dollar. */
const MILLIONTHS = 1_000_000;

export const DIVIDENDS_HEADER = 'symbol,ex_date,amount\n';

interface Span {
  from: CalendarDate;
  to: CalendarDate;
}

/** A dividend in disguise; cash of 0 says that the dividends are known at that date. */
export interface DisguisedDividend {
  row: string;
  cash: number;
}

/**
 * The dividends of one symbol as lines of `dividends.csv`: under the code, on shifted ex-dates,
 * adjusted for splits and multiplied by the factor like its prices. Rows with an amount of 0 mark
 * both ends of the span in which they are known; none do where there is a gap in it. Throws a
 * `ServiceError` (`no_prices`) for a dividend that would no longer be one.
 */
export function disguisedDividends(
  reader: Reader,
  { symbol, code, factor, weeks, splits }: Disguise & { weeks: number; splits: readonly Split[] },
  span: Span,
): DisguisedDividend[] {
  const rowOf = (date: CalendarDate, cash: number) => ({
    row: `${[code, shiftBack(date, { weeks }), cash / MILLIONTHS].join()}\n`,
    cash,
  });
  // What is held at the close of the first bar is paid from the next day on.
  const dividends = dividendsBetween(reader, [symbol], { after: span.from, upTo: span.to }).map(
    (dividend) => {
      const { exDate } = dividend;
      // On one day the dividend comes before the split.
      const later = splits.filter(({ date }) => date >= exDate);
      const cash = Math.round(cashPerShare(dividend) * scaleOf(later, factor));
      if (cash > MAX_CASH)
        throw new ServiceError(
          'no_prices',
          `Cannot disguise ${symbol}: its dividend of ${exDate} would be out of range; try another seed`,
        );
      return rowOf(exDate, cash);
    },
  );
  const [start, end] = knownSpan(reader, symbol, span) ?? [];
  const ends =
    start === undefined || end === undefined
      ? []
      : [rowOf(start, 0), ...(end > start ? [rowOf(end, 0)] : [])];
  return [...ends, ...dividends];
}

/**
 * The part of a span in which a symbol's dividends are known; null where it is none, or several.
 */
function knownSpan(
  reader: Reader,
  symbol: string,
  { from, to }: Span,
): [start: CalendarDate, end: CalendarDate] | null {
  if (paysNothing(reader, symbol)) return [from, to];
  const spans = dividendCoverage(reader, [symbol], { from, to }).map(({ startDate, endDate }) => ({
    startDate: startDate > from ? startDate : from,
    endDate: endDate < to ? endDate : to,
  }));
  const [first] = spans;
  if (first === undefined || gapsBetween(spans).length > 0) return null;
  const end = spans.reduce(
    (latest, { endDate }) => (endDate > latest ? endDate : latest),
    first.endDate,
  );
  return [first.startDate, end];
}
