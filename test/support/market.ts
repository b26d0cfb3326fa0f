import { type CalendarDate, weekdaysBefore } from '../../src/core/time/calendar.ts';
import { TODAY } from './service.ts';

/** The last weekdays before "today", in order. */
export function lastWeekdays(count: number): CalendarDate[] {
  return weekdaysBefore(TODAY, count);
}

/** A table of prices (see prices.ts) that go up and down a little, differently for each symbol. */
export function wavyPrices(symbols: readonly string[], dates: readonly CalendarDate[]): string {
  const rows = symbols.flatMap((symbol, place) =>
    dates.map((date, day) => {
      const open = 100 * (place + 1) + 5 * Math.sin(day / 2 + place);
      return `${symbol} ${date} ${open.toFixed(2)} ${(open + Math.cos(day + place)).toFixed(2)}`;
    }),
  );
  return rows.join('\n');
}
