import { addDays, type CalendarDate, isCalendarDate, isWeekday } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import {
  dividendCoverage,
  listDividends,
  nonPayingSymbols,
} from '#database/splits-and-dividends.ts';
import type { Coverage } from '#database/prices.ts';

/** Which dividends of the symbols that were held are unknown. */

/** Before and after every date. */
const EVER = { from: '', to: '~' };

/**
 * A symbol of which some dividend is unknown while a session holds it, and what is known of its
 * dividends.
 */
interface Gap {
  symbol: string;
  spans: readonly Coverage[];
  exDates: ReadonlySet<CalendarDate>;
}

/** A symbol, and the dates between which it was held. */
type HeldSpan = { symbol: string; since: CalendarDate; lastDate: CalendarDate };

/**
 * What is known of the dividends of some symbols, but of those of which all are, because they are
 * stored, covered or contained in their prices.
 */
export function readGaps(database: Database, held: readonly HeldSpan[]): Gap[] {
  const symbols = held.map(({ symbol }) => symbol);
  const spans = Map.groupBy(dividendCoverage(database, symbols, EVER), ({ symbol }) => symbol);
  const stored = Map.groupBy(listDividends(database, symbols), ({ symbol }) => symbol);
  const gaps = held.flatMap(({ symbol, since, lastDate }) => {
    const exDates = new Set(stored.get(symbol)?.map(({ exDate }) => exDate));
    const gap = { symbol, spans: spans.get(symbol) ?? [], exDates };
    return isUnknown(gap, { after: since, upTo: lastDate }) ? [gap] : [];
  });
  const free = nonPayingSymbols(
    database,
    gaps.map(({ symbol }) => symbol),
  );
  return gaps.filter(({ symbol }) => !free.has(symbol));
}

/** Ex-dates are weekdays, so a weekend need not be covered. */
export function isUnknown(
  { spans, exDates }: Gap,
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): boolean {
  for (let date = addDays(after, 1); date <= upTo; date = addDays(date, 1)) {
    const span = spans.find(({ startDate, endDate }) => startDate <= date && date <= endDate);
    if (span === undefined && isWeekday(date) && !exDates.has(date)) return true;
    // Other programs may have stored an end that is not a date: such a span is left day by day.
    if (span !== undefined && isCalendarDate(span.endDate))
      date = span.endDate < upTo ? span.endDate : upTo;
  }
  return false;
}
