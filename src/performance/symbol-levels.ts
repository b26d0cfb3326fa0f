import type { CalendarDate } from '../calendar.ts';
import type { Split } from '../database/market.ts';
import { type MorningEvent, inOrder } from '../trading/morning.ts';

/** A day's prices of a symbol in raw dollars; the close is null while unknown. */
export interface BenchmarkBar {
  date: CalendarDate;
  open: number;
  close: number | null;
}

/**
 * Dollars that one share pays, as the series counts shares on the ex-date before any split of that
 * date.
 */
export interface CashDividend {
  exDate: CalendarDate;
  cash: number;
}

/**
 * What a benchmark is worth at the open and close of a day. Only ratios of levels are meaningful.
 */
export interface Level {
  date: CalendarDate;
  open: number;
  close: number;
}

/** The levels of all days on which a benchmark has a bar, in order. */
export type Levels = readonly Level[];

/**
 * The levels of one symbol: its prices times the shares into which one share of the first bar has
 * turned since, by splits and by dividends, which buy further shares at the close of the ex-date.
 * So with a dividend d and a split of s new shares for an old one the level grows by (s · close +
 * d) / previous close (the holding period return of the Center for Research in Security Prices; the
 * total return of S&P Dow Jones Indices, Index Mathematics Methodology). Who buys at the open of
 * the ex-date gets no dividend, so that open counts the new shares too. On a day without a bar all
 * of this waits for the next bar. The open replaces an unknown close, as in the value of
 * portfolios.
 */
export function symbolLevels(
  bars: readonly BenchmarkBar[],
  {
    splits = [],
    dividends = [],
  }: { splits?: readonly Split[]; dividends?: readonly CashDividend[] } = {},
): Levels {
  const levels: Level[] = [];
  const events = inOrder(splits, dividends);
  let [shares, next] = [1, 0];
  for (const { date, open, close } of bars) {
    let cash = 0;
    for (
      let event = events[next];
      event !== undefined && dateOf(event) <= date;
      event = events[next]
    ) {
      next += 1;
      if (levels.length === 0) continue; // the prices of the first bar already reflect what was before it
      if (event.split !== undefined) shares *= event.split.numerator / event.split.denominator;
      else cash += shares * event.dividend.cash;
    }
    const last = close ?? open;
    shares += cash / last;
    levels.push({ date, open: open * shares, close: last * shares });
  }
  return levels;
}

function dateOf({ split, dividend }: MorningEvent<Split, CashDividend>): CalendarDate {
  return split === undefined ? dividend.exDate : split.date;
}
