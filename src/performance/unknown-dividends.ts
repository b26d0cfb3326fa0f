import { type CalendarDate, addDays, weekdays } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { dividendCoverage } from '../database/dividends.ts';
import type { Coverage } from '../database/prices.ts';
import { type HeldSymbol, exDatesOf, heldUncovered, paysNothing } from '../database/records/held.ts';
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

/** Model-days that are looked at in one step. */
const SESSIONS_PER_STEP = 50;

/** Those of some sessions that held a symbol over a morning for which its dividends are neither stored nor covered. */
export type UnknownSearch = (sessions: readonly ChosenDay[]) => Steps<ChosenDay[]>;

/** Reads what is known of each symbol once. Sessions that pay no dividends are never found. */
export function createUnknownSearch(database: Database): UnknownSearch {
  const isUnknown = createUnknownTest(database);
  return function* (sessions) {
    const paying = sessions.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (let start = 0; start < paying.length; start += SESSIONS_PER_STEP) {
      const ids = paying.slice(start, start + SESSIONS_PER_STEP).map(({ sessionId }) => sessionId);
      for (const { sessionId, ...held } of heldUncovered(database, ids))
        if (!found.has(sessionId) && isUnknown(held)) found.add(sessionId);
      yield null;
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

/** Those of some symbols that have prices, and may have had an unknown dividend after one date up to another; one per step. */
export function* symbolsWithUnknown(
  database: Database,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): Steps<string[]> {
  const isUnknown = createUnknownTest(database);
  const found: string[] = [];
  for (const symbol of symbols) {
    if (priceSpan(database, symbol) !== null && isUnknown({ symbol, since: after, date: upTo })) found.push(symbol);
    yield null;
  }
  return found;
}

/** Whether a dividend of a symbol after a date up to another may be neither stored nor covered. */
function createUnknownTest(database: Database): (held: Omit<HeldSymbol, 'sessionId'>) => boolean {
  const known = new Map<string, Known>();
  return ({ symbol, since, date }) => {
    const own = known.get(symbol) ?? readKnown(database, symbol);
    known.set(symbol, own);
    return !own.isComplete && !isKnown(own, { first: addDays(since, 1), last: date });
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
function isKnown({ spans, exDates }: Known, { first, last }: { first: CalendarDate; last: CalendarDate }): boolean {
  const isCovered = (from: CalendarDate, to: CalendarDate) =>
    spans.some(({ startDate, endDate }) => startDate <= from && to <= endDate);
  return isCovered(first, last) || weekdays(first, last).every((date) => isCovered(date, date) || exDates.has(date));
}
