import { type CalendarDate, addDays, weekdays } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { dividendCoverage } from '../database/dividends.ts';
import type { Coverage } from '../database/prices.ts';
import { exDatesOf, heldUncovered, paysNothing } from '../database/records/held.ts';
import type { ChosenDay } from '../database/records/performance.ts';
import type { Steps } from '../turns.ts';

/** Before and after every date. */
const EVER = { from: '', to: '~' };

/** What is known of the dividends of one symbol. */
interface Known {
  /** Whether its prices contain its dividends, or are made up: there are none that could be unknown. */
  isComplete: boolean;
  spans: readonly Coverage[];
  exDates: ReadonlySet<CalendarDate>;
}

/** Model-days that are looked at in one step; each may hold a hundred symbols. */
const SESSIONS_PER_STEP = 10;

/** Those of some sessions that held a symbol over a morning for which its dividends are neither stored nor covered. */
export type UnknownSearch = (sessions: readonly ChosenDay[]) => Steps<ChosenDay[]>;

/** Reads what is known of each symbol once. Sessions that pay no dividends are never found. */
export function createUnknownSearch(database: Database): UnknownSearch {
  const read = new Map<string, Known>();
  return function* (sessions) {
    const paying = sessions.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (let start = 0; start < paying.length; start += SESSIONS_PER_STEP) {
      const ids = paying.slice(start, start + SESSIONS_PER_STEP).map(({ sessionId }) => sessionId);
      for (const [sessionId, symbol, since, date] of heldUncovered(database, ids)) {
        if (found.has(sessionId)) continue;
        const known = read.get(symbol) ?? readKnown(database, symbol);
        if (!read.has(symbol)) yield null; // it may have looked at every bar of the symbol
        read.set(symbol, known);
        if (isUnknown(known, { after: since, upTo: date })) found.add(sessionId);
      }
      yield null;
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

function readKnown(database: Database, symbol: string): Known {
  return {
    isComplete: paysNothing(database, symbol),
    spans: dividendCoverage(database, [symbol], EVER),
    exDates: exDatesOf(database, symbol),
  };
}

/** Ex-dates are weekdays, so a weekend need not be covered. */
function isUnknown({ isComplete, spans, exDates }: Known, { after, upTo }: { after: CalendarDate; upTo: CalendarDate }): boolean {
  const isCovered = (date: CalendarDate) => spans.some(({ startDate, endDate }) => startDate <= date && date <= endDate);
  return !isComplete && weekdays(addDays(after, 1), upTo).some((date) => !isCovered(date) && !exDates.has(date));
}
