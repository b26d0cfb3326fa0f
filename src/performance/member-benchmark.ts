import type { CalendarDate } from '../basics/calendar.ts';
import type { Members } from '../basics/members.ts';
import type { Levels } from './benchmark.ts';

/** Sums over the members of a date, and how many there are of each. */
interface DayOfMembers {
  overnight: number;
  continuing: number;
  intraday: number;
  trading: number;
}

/**
 * The levels of an equal-weight portfolio of the members of each morning, which is rebalanced at
 * the close before, so that who joins is bought there and who leaves is sold (the equal-weight
 * indexes of S&P Dow Jones Indices, Index Mathematics Methodology, with the members of the date). A
 * day's return is the mean of close ÷ previous close − 1 over those who are members that morning and
 * have both; from its own open, of close ÷ open − 1. Handles one symbol per step.
 */
export function memberLevels(
  symbols: Iterable<{ symbol: string; levels: Levels }>,
  members: Members,
): Levels {
  const days = new Map<CalendarDate, DayOfMembers>();
  const spans = Map.groupBy(members, ({ symbol }) => symbol);
  for (const { symbol, levels } of symbols) {
    const own = spans.get(symbol) ?? [];
    for (const [index, { date, open, close }] of levels.entries()) {
      if (!own.some(({ from, to }) => from <= date && (to === null || date <= to))) continue;
      const day = days.get(date) ?? { overnight: 0, continuing: 0, intraday: 0, trading: 0 };
      days.set(date, day);
      day.intraday += close / open - 1;
      day.trading += 1;
      const previous = levels[index - 1];
      if (previous === undefined) continue;
      day.overnight += close / previous.close - 1;
      day.continuing += 1;
    }
  }
  let level = 1;
  return [...days]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([date, day]) => {
      level *= 1 + (day.continuing === 0 ? 0 : day.overnight / day.continuing);
      return { date, open: level / (1 + day.intraday / day.trading), close: level };
    });
}
