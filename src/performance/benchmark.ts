import type { CalendarDate } from '../calendar.ts';
import type { Split } from '../database/market.ts';
import type { DayOfCurve } from './returns.ts';

/** A day's prices of a symbol in raw dollars; the close is null while it is not known. */
export interface BenchmarkBar {
  date: CalendarDate;
  open: number;
  close: number | null;
}

/** What a benchmark is worth at the open and the close of every day that it has a bar on, in order; only ratios mean anything. */
export interface Levels {
  dates: CalendarDate[];
  opens: number[];
  closes: number[];
}

/** A moment at which a curve can start. */
export interface Moment {
  date: CalendarDate;
  at: 'open' | 'close';
}

/**
 * The levels of one symbol: its prices times the shares that splits have made of one since. While no close is known the
 * open stands for it, as it does when portfolios are marked.
 */
export function symbolLevels(bars: readonly BenchmarkBar[], splits: readonly Split[]): Levels {
  const levels: Levels = { dates: [], opens: [], closes: [] };
  const left = [...splits];
  let shares = 1;
  for (const { date, open, close } of bars) {
    for (let [split] = left; split !== undefined && split.date <= date; [split] = left) {
      // Splits before the first bar are in its prices already.
      if (levels.dates.length > 0) shares *= split.numerator / split.denominator;
      left.shift();
    }
    levels.dates.push(date);
    levels.opens.push(open * shares);
    levels.closes.push((close ?? open) * shares);
  }
  return levels;
}

/** What the members did on one date: the sums of their returns, and how many have their first or their last bar on it. */
interface DayOfMembers {
  overnight: number;
  intraday: number;
  firsts: number;
  lasts: number;
}

/**
 * The levels of equal amounts in every member, made equal again at every close (the 1/N portfolio of DeMiguel, Garlappi
 * & Uppal, Optimal Versus Naive Diversification, Review of Financial Studies, 2009; without costs). A day's return is the
 * mean of the members' returns; between its first and its last bar a member without a bar has stood still; before and
 * after it is not in the mean. Takes the members one by one, so that they need not be in memory together.
 */
export function equalWeightLevels(members: Iterable<Levels>): Levels {
  const days = new Map<CalendarDate, DayOfMembers>();
  for (const member of members) addMember(days, member);
  const dates = [...days.keys()].sort();
  const levels: Levels = { dates, opens: [], closes: [] };
  let [level, begun, over] = [1, 0, 0];
  for (const date of dates) {
    const day = days.get(date) as DayOfMembers;
    const continuing = begun - over;
    begun += day.firsts;
    level *= 1 + (continuing === 0 ? 0 : day.overnight / continuing);
    levels.closes.push(level);
    levels.opens.push(level / (1 + day.intraday / (begun - over)));
    over += day.lasts;
  }
  return levels;
}

function addMember(days: Map<CalendarDate, DayOfMembers>, { dates, opens, closes }: Levels): void {
  dates.forEach((date, index) => {
    let day = days.get(date);
    if (day === undefined) days.set(date, (day = { overnight: 0, intraday: 0, firsts: 0, lasts: 0 }));
    const close = closes[index] as number;
    day.intraday += close / (opens[index] as number) - 1;
    if (index === 0) day.firsts += 1;
    else day.overnight += close / (closes[index - 1] as number) - 1;
    if (index === dates.length - 1) day.lasts += 1;
  });
}

/** The level at a moment; a day without a bar has the last close before it. Null before the first and after the last bar. */
export function levelAt({ dates, opens, closes }: Levels, { date, at }: Moment): number | null {
  const place = lastPlaceUpTo(dates, date);
  if (place === -1 || date > (dates.at(-1) as CalendarDate)) return null;
  const level = at === 'open' && dates[place] === date ? opens[place] : closes[place];
  return level ?? null;
}

/** The benchmark's return over the same time as each day of a curve: from its start to its close; null where unknown. */
export function benchmarkReturns(levels: Levels, curve: readonly DayOfCurve[]): (number | null)[] {
  return curve.map((day) => {
    const start = levelAt(levels, startOf(day));
    const end = levelAt(levels, { date: day.date, at: 'close' });
    return start === null || end === null ? null : end / start - 1;
  });
}

/** Where a day of a curve starts: at the close of the day before it, or, a model's very first one, at its own open. */
export function startOf({ date, startDate }: Pick<DayOfCurve, 'date' | 'startDate'>): Moment {
  return startDate === null ? { date, at: 'open' } : { date: startDate, at: 'close' };
}

/** The benchmark's own curve through some dates, from a moment at which it is worth 1; days without a level are left out. */
export function benchmarkCurve(
  levels: Levels,
  base: Moment,
  dates: readonly CalendarDate[],
): (DayOfCurve & { value: number; dailyReturn: number })[] {
  const first = levelAt(levels, base);
  if (first === null) return [];
  let [startDate, previous] = [base.at === 'close' ? base.date : null, first];
  return dates.flatMap((date) => {
    const level = levelAt(levels, { date, at: 'close' });
    if (level === null) return [];
    const day = { date, startDate, value: level / first, dailyReturn: level / previous - 1 };
    [startDate, previous] = [date, level];
    return [day];
  });
}

/** The index of the last date that is not after the given one; -1 when all are. */
function lastPlaceUpTo(dates: readonly CalendarDate[], date: CalendarDate): number {
  let [low, high] = [0, dates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dates[middle] as CalendarDate) <= date) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
