import { type CalendarDate, addDays, isCalendarDate, isWeekday } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { dividendCoverage } from '../database/dividends.ts';
import type { Coverage } from '../database/prices.ts';
import {
  type HeldSymbol,
  exDatesOf,
  heldSymbols,
  heldUncovered,
  paysNothing,
} from '../database/records/held.ts';
import { type ChosenDay, barsBetween } from '../database/records/performance.ts';
import { MAX_STILL_DAYS } from './conventions.ts';

/** Before and after every date. */
const EVER = { from: '', to: '~' };

/**
 * A symbol of which some dividend is unknown while a session holds it, and what is known of its
 * dividends.
 */
interface Gap {
  symbol: string;
  /** Since whose close a session first held it. */
  since: CalendarDate;
  spans: readonly Coverage[];
  exDates: ReadonlySet<CalendarDate>;
}

/** Model-days that are looked at in one step; each may hold a hundred symbols. */
const SESSIONS_PER_STEP = 10;

/**
 * Those of some sessions that held a symbol over a morning for which its dividends are neither
 * stored nor covered.
 */
export type UnknownSearch = (sessions: readonly ChosenDay[]) => ChosenDay[];

/**
 * Reads what is known of each symbol once, for all calls: mostly that is everything, and no session
 * has to be looked at. Sessions that pay no dividends are never found.
 */
export function createUnknownSearch(database: Database): UnknownSearch {
  let gaps: Gap[] | undefined;
  return (sessions) => {
    gaps ??= readGaps(database);
    const paying = sessions.filter(({ paysDividends }) => paysDividends);
    const last = paying.reduce((latest, { date }) => (date > latest ? date : latest), '');
    const suspects = new Map(
      gaps
        .filter((gap) => isUnknown(gap, { after: gap.since, upTo: last }))
        .map((gap) => [gap.symbol, gap]),
    );
    if (suspects.size === 0) return [];
    const found = new Set<number>();
    for (let start = 0; start < paying.length; start += SESSIONS_PER_STEP) {
      const ids = paying.slice(start, start + SESSIONS_PER_STEP).map(({ sessionId }) => sessionId);
      for (const [sessionId, symbol, since, date] of heldUncovered(
        database,
        ids,
        suspects.keys(),
      )) {
        const gap = suspects.get(symbol);
        if (
          gap !== undefined &&
          !found.has(sessionId) &&
          isUnknown(gap, { after: since, upTo: date })
        )
          found.add(sessionId);
      }
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

function readGaps(database: Database): Gap[] {
  const gaps: Gap[] = [];
  for (const held of heldSymbols(database)) {
    const gap = readGap(database, held);
    if (gap !== null) gaps.push(gap);
  }
  return gaps;
}

/**
 * Null for a symbol whose dividends are all known, because they are stored, covered or contained in
 * its prices.
 */
function readGap(database: Database, { symbol, since, lastDate }: HeldSymbol): Gap | null {
  const known = {
    symbol,
    since,
    spans: dividendCoverage(database, [symbol], EVER),
    exDates: exDatesOf(database, symbol),
  };
  return isUnknown(known, { after: since, upTo: lastDate }) && !paysNothing(database, symbol)
    ? known
    : null;
}

/**
 * The days on which some of these series may lack a dividend: after the bar before it, an ex-date
 * is neither stored nor covered. Gaps longer than `MAX_STILL_DAYS` end a series, so nothing is
 * missing after them. Reads the bars only of symbols with a gap.
 */
export function daysWithUnknown(
  database: Database,
  symbols: readonly string[],
  { from, to }: { from: CalendarDate; to: CalendarDate },
): Set<CalendarDate> {
  const found = new Set<CalendarDate>();
  for (const symbol of symbols) {
    const gap = readGap(database, { symbol, since: addDays(from, -MAX_STILL_DAYS), lastDate: to });
    const bars = gap === null ? [] : barsBetween(database, symbol, { from, to });
    for (const [index, { date }] of bars.entries()) {
      const after = bars[index - 1]?.date;
      if (gap === null || after === undefined || isCovered(gap, { after, upTo: date })) continue;
      if (isUnknown(gap, { after, upTo: date }) && date <= addDays(after, MAX_STILL_DAYS))
        found.add(date);
    }
  }
  return found;
}

/** Whether one span covers all of it: most often, and found without counting days. */
function isCovered(
  { spans }: Gap,
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): boolean {
  return spans.some(({ startDate, endDate }) => startDate <= after && upTo <= endDate);
}

/** Ex-dates are weekdays, so a weekend need not be covered. */
function isUnknown(
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
