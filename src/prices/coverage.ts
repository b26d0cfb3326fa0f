import { type CalendarDate, addDays, countWeekdays } from '../calendar.ts';
import type { Coverage } from '../database/prices.ts';

/** What is stored, as input for the functions below. */
export interface StoredPrices {
  /** A partial bar has no close: enough for trading, though its day is over by now. */
  bars: readonly { symbol: string; date: CalendarDate; isPartial: 0 | 1 }[];
  coverage: readonly Coverage[];
}

/**
 * Whether a date can be simulated. `available`: it has prices. `no_trading`: it is known to have
 * none (a holiday). `missing`: its prices are unknown.
 */
export type Availability = 'available' | 'no_trading' | 'missing';

export interface DatePrices {
  date: CalendarDate;
  availability: Availability;
  /** Universe symbols without a bar and without coverage on this date. */
  missing: string[];
  /** Universe symbols with a partial bar and without coverage. */
  partial: string[];
}

/**
 * Classifies each date: available when every required symbol of the universe has a bar or is
 * covered, and at least one has a bar; without trading when all are covered and none has a bar. If
 * no symbol is required (nothing can be downloaded), a single bar makes a date available, and a
 * single covered symbol makes a date without bars one without trading.
 */
export function examineDates(
  dates: readonly CalendarDate[],
  {
    universe,
    stored,
    required,
  }: { universe: readonly string[]; stored: StoredPrices; required: ReadonlySet<string> },
): DatePrices[] {
  const barsOf = Map.groupBy(stored.bars, ({ date }) => date);
  const spansOf = Map.groupBy(stored.coverage, ({ symbol }) => symbol);
  return dates.map((date) => {
    const bars = new Map(
      barsOf.get(date)?.map(({ symbol, isPartial }) => [symbol, isPartial === 1]),
    );
    const isCovered = (symbol: string) =>
      spansOf.get(symbol)?.some(({ startDate, endDate }) => startDate <= date && date <= endDate) ??
      false;
    const uncovered = universe.filter((symbol) => !isCovered(symbol));
    const missing = uncovered.filter((symbol) => !bars.has(symbol));
    const partial = uncovered.filter((symbol) => bars.get(symbol));
    const isKnown =
      missing.length < universe.length && !missing.some((symbol) => required.has(symbol));
    const hasBar = universe.some((symbol) => bars.has(symbol));
    return {
      date,
      missing,
      partial,
      availability: !isKnown ? 'missing' : hasBar ? 'available' : 'no_trading',
    };
  });
}

/** The unknown dates between covered spans, both ends included. */
export interface CoverageGap {
  startDate: CalendarDate;
  endDate: CalendarDate;
  weekdays: number;
}

/**
 * The gaps between spans that contain a weekday. Spans come in order of their starts, whatever
 * their sources.
 */
export function gapsBetween(
  spans: readonly { startDate: CalendarDate; endDate: CalendarDate }[],
): CoverageGap[] {
  const gaps: CoverageGap[] = [];
  let known: CalendarDate | null = null;
  for (const { startDate, endDate } of spans) {
    if (known !== null && startDate > known) {
      const gap = { startDate: addDays(known, 1), endDate: addDays(startDate, -1) };
      gaps.push({ ...gap, weekdays: countWeekdays(gap.startDate, gap.endDate) });
    }
    if (known === null || endDate > known) known = endDate;
  }
  return gaps.filter((gap) => gap.weekdays > 0);
}
