import { type CalendarDate, addDays, weekdays } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { dividendCoverage } from '../database/dividends.ts';
import type { Coverage } from '../database/prices.ts';
import { exDatesOf, heldUncovered, paysNothing } from '../database/records/held.ts';
import { type ChosenDay, priceSpan } from '../database/records/performance.ts';
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
  const readOnce = createReader(database);
  return function* (sessions) {
    const paying = sessions.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (let start = 0; start < paying.length; start += SESSIONS_PER_STEP) {
      const ids = paying.slice(start, start + SESSIONS_PER_STEP).map(({ sessionId }) => sessionId);
      for (const [sessionId, symbol, since, date] of heldUncovered(database, ids)) {
        if (found.has(sessionId)) continue;
        const known = yield* readOnce(symbol);
        if (isUnknown(known, { after: since, upTo: date })) found.add(sessionId);
      }
      yield null;
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

/** Those of some symbols that have prices, and may have had an unknown dividend after one date up to another. */
export function* symbolsWithUnknown(database: Database, symbols: readonly string[], span: Span): Steps<string[]> {
  const readOnce = createReader(database);
  const found: string[] = [];
  for (const symbol of symbols) {
    const known = yield* readOnce(symbol);
    if (priceSpan(database, symbol) !== null && isUnknown(known, span)) found.push(symbol);
  }
  return found;
}

/** Reads what is known of a symbol at its first mention, which may mean to look at every bar of it: in a step of its own. */
function createReader(database: Database): (symbol: string) => Steps<Known> {
  const known = new Map<string, Known>();
  return function* (symbol) {
    const before = known.get(symbol);
    if (before !== undefined) return before;
    const own = readKnown(database, symbol);
    known.set(symbol, own);
    yield null;
    return own;
  };
}

function readKnown(database: Database, symbol: string): Known {
  return {
    isComplete: paysNothing(database, symbol),
    spans: dividendCoverage(database, [symbol], EVER),
    exDates: exDatesOf(database, symbol),
  };
}

interface Span {
  after: CalendarDate;
  upTo: CalendarDate;
}

/** Ex-dates are weekdays, so a weekend need not be covered. */
function isUnknown({ isComplete, spans, exDates }: Known, { after, upTo }: Span): boolean {
  const isCovered = (date: CalendarDate) => spans.some(({ startDate, endDate }) => startDate <= date && date <= endDate);
  return !isComplete && weekdays(addDays(after, 1), upTo).some((date) => !isCovered(date) && !exDates.has(date));
}
