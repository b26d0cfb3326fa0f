import { addDays, byDate, type CalendarDate } from '#time/calendar.ts';
import type { Member } from '#settings/configuration-schema.ts';
import { membersOn } from '#settings/members.ts';
import { at } from '../statistics/moments.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import type { CurveDay } from './risk-and-return.ts';

/** A day's prices of a symbol in raw dollars; the close is null while unknown. */
export interface BenchmarkBar {
  date: CalendarDate;
  open: number;
  close: number | null;
}

/**
 * What one share becomes on the morning of a date: so many shares of the bars that follow, and
 * dollars. After a split there are no dollars, after a dividend one share.
 */
export interface ShareChange {
  date: CalendarDate;
  shares: number;
  cash: number;
}

/**
 * What a benchmark is worth at the open and close of a day. Only ratios of levels are meaningful.
 */
interface Level {
  date: CalendarDate;
  open: number;
  close: number;
  /** Whether it was exchanged that morning, and is not a member of the universe any more. */
  isEnd?: boolean;
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
 * portfolios. What an exchange pays is reinvested likewise. Changes of one date come in their order.
 */
export function symbolLevels(
  bars: readonly BenchmarkBar[],
  changes: readonly ShareChange[] = [],
): Levels {
  const levels: Level[] = [];
  // The prices of the first bar already reflect what was before it.
  const waiting = changes.filter(({ date }) => date > (bars[0]?.date ?? ''));
  waiting.sort(byDate);
  let held = 1;
  for (const { date, open, close } of bars) {
    let paid = 0;
    for (let [change] = waiting; change && change.date <= date; [change] = waiting) {
      paid += held * change.cash;
      held *= change.shares;
      waiting.shift();
    }
    const last = close ?? open;
    held += paid / last;
    levels.push({ date, open: open * held, close: last * held });
  }
  return levels;
}

/** The open or close of a day, at which a curve can start. */
export interface PriceTime {
  date: CalendarDate;
  at: 'open' | 'close';
}

/** The members' returns on one date: sums, and how many there are. */
interface DayOfMembers {
  date: CalendarDate;
  /** Since the member's last close, in the `MAX_STILL_DAYS` before. */
  overnight: number;
  closes: number;
  /** Since its open of this date; none of a member that was exchanged on it. */
  intraday: number;
  opens: number;
  /** Members whose last bar, or last before a long gap, is on this date. */
  lasts: number;
  /** The last date on which a member without a later bar still counts. */
  stillUntil: CalendarDate;
}

type DaysOfMembers = Map<CalendarDate, DayOfMembers>;

function addMember(
  days: DaysOfMembers,
  levels: Levels,
  isMember: (date: CalendarDate) => boolean = () => true,
): void {
  let stillUntil = '';
  for (const [place, { date, open, close, isEnd = false }] of levels.entries()) {
    const day = days.get(date) ?? {
      ...{ date, overnight: 0, closes: 0, intraday: 0, opens: 0, lasts: 0 },
      stillUntil: addDays(date, MAX_STILL_DAYS),
    };
    const isContinued = date <= stillUntil;
    ({ stillUntil } = day);
    if (!isMember(date)) continue;
    days.set(date, day);
    if (isContinued) {
      day.overnight += close / at(levels, place - 1).close - 1;
      day.closes += 1;
    }
    if (isEnd) continue;
    day.intraday += close / open - 1;
    day.opens += 1;
    const next = levels[place + 1];
    if (next === undefined || next.date > stillUntil) day.lasts += 1;
  }
}

/**
 * The levels of an equal-weight portfolio of all members, rebalanced at every close without costs
 * (the 1/N portfolio of DeMiguel, Garlappi & Uppal, Optimal Versus Naive Diversification, Review of
 * Financial Studies, 2009). A day's return is the mean of the returns of the members that had a bar
 * in the `MAX_STILL_DAYS` before it; without a bar on the day a member's return is 0. So no later
 * bar changes a day's return. Handles one member per step, so that memory need not hold them all.
 */
export function equalWeightLevels(members: Iterable<Levels>): Levels {
  const days: DaysOfMembers = new Map();
  for (const member of members) addMember(days, member);
  const ordered = [...days.values()].sort(byDate);
  let [level, counting, ended] = [1, 0, 0];
  return ordered.map(({ date, overnight, closes, intraday, opens }) => {
    for (let past = ordered[ended]; past && past.stillUntil < date; past = ordered[ended]) {
      counting -= past.lasts;
      ended += 1;
    }
    level *= 1 + overnight / (counting || 1);
    counting += opens - closes;
    return { date, open: level / (1 + intraday / (counting || 1)), close: level };
  });
}

/**
 * The levels of an equal-weight portfolio of the members of each morning, rebalanced at the close
 * before it (the equal-weight indexes of S&P Dow Jones Indices, Index Mathematics Methodology). A
 * day's return is the mean of close ÷ previous close − 1 over the members that have both, the
 * previous one in the `MAX_STILL_DAYS` before; from the open, of close ÷ open − 1. What was exchanged
 * on a date on which nothing trades counts on the next.
 */
export function memberLevels(
  symbols: Iterable<readonly [symbol: string, levels: Levels]>,
  members: readonly Member[],
): Levels {
  const days: DaysOfMembers = new Map();
  const spans = Map.groupBy(members, ({ symbol }) => symbol);
  for (const [symbol, levels] of symbols) {
    const own = spans.get(symbol) ?? [];
    addMember(days, levels, (date) => membersOn(own, date).length > 0);
  }
  const ordered = [...days.values()].sort(byDate);
  let [level, sum, returns] = [1, 0, 0];
  return ordered.flatMap(({ date, overnight, closes, intraday, opens }, place) => {
    sum += overnight;
    returns += closes;
    if (opens === 0 && place < ordered.length - 1) return [];
    level *= 1 + sum / (returns || 1);
    [sum, returns] = [0, 0];
    return [{ date, open: level / (1 + intraday / (opens || 1)), close: level }];
  });
}

/**
 * The level at the open or close of a day; without a bar on it, the last close of the
 * `MAX_STILL_DAYS` before it, or null. No later bar changes it: only later bars show whether a gap
 * is temporary or the end.
 */
export function levelAt(levels: Levels, { date, at: time }: PriceTime): number | null {
  let [low, high] = [0, levels.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(levels, middle).date <= date) low = middle + 1;
    else high = middle;
  }
  const last = levels[low - 1];
  if (last?.date === date) return last[time];
  return last && date <= addDays(last.date, MAX_STILL_DAYS) ? last.close : null;
}

/**
 * A benchmark twice: with the dividends that it reinvests, and by its prices only. The same where
 * it has none.
 */
export interface LevelPair {
  withDividends: Levels;
  ofPrices: Levels;
}

/** A day that a benchmark is compared with: it gets dividends where the model-day does, and only there. */
export type ComparedDay = Pick<CurveDay, 'date' | 'startDate'> & { paysDividends: boolean };

/**
 * The benchmark's return over the same time as each day of a curve: from its start to its close;
 * null where unknown.
 */
export function benchmarkReturns(
  levels: LevelPair,
  curve: readonly ComparedDay[],
): (number | null)[] {
  return curve.map((day) => {
    const own = day.paysDividends ? levels.withDividends : levels.ofPrices;
    const start = levelAt(own, startTime(day));
    const end = levelAt(own, { date: day.date, at: 'close' });
    return !start || end === null ? null : end / start - 1;
  });
}

/**
 * When a day of a curve starts: at the close of the day before it or, for a model's very first day,
 * at its own open.
 */
export function startTime({ date, startDate }: Pick<CurveDay, 'date' | 'startDate'>): PriceTime {
  return startDate === null ? { date, at: 'open' } : { date: startDate, at: 'close' };
}

/**
 * The benchmark's own curve on the dates of some model-days, worth 1 where it begins. A date's
 * return begins at the close of the date before it in the curve, or at the earliest start of that
 * date's model-days if that is later: what lies between the days that count belongs neither to it
 * nor to the models. Dates without a level at such a start, or at the close, are left out.
 */
export function benchmarkCurve(
  levels: LevelPair,
  days: readonly ComparedDay[],
): (CurveDay & ComparedDay & { value: number; dailyReturn: number })[] {
  const curve: ReturnType<typeof benchmarkCurve> = [];
  let [value, first] = [1, NaN];
  let followed: Levels | null = null;
  for (const [date, sameDate] of Map.groupBy(days.toSorted(byDate), (day) => day.date)) {
    const paysDividends = sameDate.some((day) => day.paysDividends);
    const own = paysDividends ? levels.withDividends : levels.ofPrices;
    const previous = curve.at(-1)?.date;
    const start = earliestStart(own, sameDate, previous);
    const level = levelAt(own, { date, at: 'close' });
    if (!start?.level || level === null) continue;
    const isContinued = followed === own && start.startDate === previous;
    if (!isContinued) [followed, first] = [own, start.level / value]; // its own level at which the value would have been 1
    value = level / first;
    curve.push({
      date,
      startDate: start.startDate,
      paysDividends,
      value,
      dailyReturn: level / start.level - 1,
    });
  }
  return curve;
}

/**
 * The earliest start of a date's model-days that has a level, none of them before the close of an
 * earlier date; null without one.
 */
function earliestStart(
  levels: Levels,
  days: readonly ComparedDay[],
  notBefore: CalendarDate | undefined,
) {
  const starts = days.map(({ date, startDate: own }) => {
    const startDate = own === null || notBefore === undefined || own > notBefore ? own : notBefore;
    return { startDate, ...startTime({ date, startDate }) };
  });
  // Of one date, the own open comes after every close before it.
  for (const start of starts.sort(byDate)) {
    const level = levelAt(levels, start);
    if (level !== null) return { startDate: start.startDate, level };
  }
  return null;
}
