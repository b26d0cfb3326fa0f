import { type CalendarDate, addDays } from '../calendar.ts';
import type { Split } from '../database/market.ts';
import { MAX_STILL_DAYS } from './conventions.ts';
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

/** What the members did on one date, and how many begin and end on it. */
interface DayOfMembers {
  /** Sums of returns: since the member's last close, and since its open of this date. */
  overnight: number;
  intraday: number;
  /** Members whose first bar, or first after a long gap, is on this date. */
  firsts: number;
  /** Members whose last bar, or last before a long gap, is on this date. */
  lasts: number;
  /** The last date on which a member without a later bar still counts. */
  stillUntil: CalendarDate;
}

/**
 * The levels of equal amounts in every member, made equal again at every close (the 1/N portfolio of DeMiguel, Garlappi
 * & Uppal, Optimal Versus Naive Diversification, Review of Financial Studies, 2009; without costs). A day's return is the
 * mean of the returns of the members that had a bar in the `MAX_STILL_DAYS` before it; one without a bar on the day has
 * stood still. So a day's return depends on no later bar. Takes the members one by one, so that they need not be in memory
 * together.
 */
export function equalWeightLevels(members: Iterable<Levels>): Levels {
  const days: DaysOfMembers = new Map();
  for (const member of members) addMember(days, member);
  return levelsOfMembers(days);
}

export type DaysOfMembers = Map<CalendarDate, DayOfMembers>;

/** The second half of `equalWeightLevels`, when every member has been added. */
export function levelsOfMembers(days: DaysOfMembers): Levels {
  const ordered = [...days].sort(([one], [other]) => (one < other ? -1 : 1));
  const levels: Levels = { dates: ordered.map(([date]) => date), opens: [], closes: [] };
  let [level, counting, ended] = [1, 0, 0];
  for (const [date, day] of ordered) {
    for (let past = ordered[ended]; past !== undefined && past[1].stillUntil < date; past = ordered[ended]) {
      counting -= past[1].lasts;
      ended += 1;
    }
    level *= 1 + (counting === 0 ? 0 : day.overnight / counting);
    counting += day.firsts;
    levels.closes.push(level);
    levels.opens.push(level / (1 + day.intraday / counting));
  }
  return levels;
}

/** The first half of `equalWeightLevels`, member by member. */
export function addMember(days: DaysOfMembers, { dates, opens, closes }: Levels): void {
  let previous: DayOfMembers | undefined;
  for (const [index, date] of dates.entries()) {
    const day = dayOfMembers(days, date);
    const close = closes[index] as number;
    day.intraday += close / (opens[index] as number) - 1;
    if (previous !== undefined && date <= previous.stillUntil) {
      day.overnight += close / (closes[index - 1] as number) - 1;
    } else {
      if (previous !== undefined) previous.lasts += 1;
      day.firsts += 1;
    }
    previous = day;
  }
  if (previous !== undefined) previous.lasts += 1;
}

function dayOfMembers(days: Map<CalendarDate, DayOfMembers>, date: CalendarDate): DayOfMembers {
  let day = days.get(date);
  if (day === undefined) {
    day = { overnight: 0, intraday: 0, firsts: 0, lasts: 0, stillUntil: addDays(date, MAX_STILL_DAYS) };
    days.set(date, day);
  }
  return day;
}

/**
 * The level at a moment; a day without a bar has the last close of the `MAX_STILL_DAYS` before it. Null where there is
 * none. No later bar changes it: whether a gap is a hole or the end would only show afterwards.
 */
export function levelAt({ dates, opens, closes }: Levels, { date, at }: Moment): number | null {
  const place = lastPlaceUpTo(dates, date);
  const last = dates[place];
  if (last === undefined) return null;
  if (last === date) return (at === 'open' ? opens[place] : closes[place]) ?? null;
  return date <= addDays(last, MAX_STILL_DAYS) ? (closes[place] ?? null) : null;
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

/** Where a benchmark's own curve begins: on a date, with the move since the moment at which it is worth 1. */
export interface Base {
  date: CalendarDate;
  start: Moment;
}

/** The benchmark's own curve through some dates from its base on; days without a level are left out. */
export function benchmarkCurve(
  levels: Levels,
  { date: firstDate, start }: Base,
  dates: readonly CalendarDate[],
): (DayOfCurve & { value: number; dailyReturn: number })[] {
  const first = levelAt(levels, start);
  if (first === null) return [];
  let [startDate, previous] = [start.at === 'close' ? start.date : null, first];
  return dates.flatMap((date) => {
    const level = date < firstDate ? null : levelAt(levels, { date, at: 'close' });
    if (level === null) return [];
    const day = { date, startDate, value: level / first, dailyReturn: level / previous - 1 };
    [startDate, previous] = [date, level];
    return [day];
  });
}

/** Whether one moment is earlier than another. */
export function isBefore(one: Moment, other: Moment): boolean {
  return one.date < other.date || (one.date === other.date && one.at === 'open' && other.at === 'close');
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
