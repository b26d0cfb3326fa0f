import {
  addDays,
  type CalendarDate,
  isCalendarDate,
  isWeekday,
  type DateSpan,
} from '../basics/calendar.ts';
import { asObject, objectsIn, tryParse } from '../basics/json.ts';
import { pricesNow } from '../database/price-writes.ts';
import type { Database } from '../database/database.ts';
import { dividendCoverage, dividendsOf } from '../database/splits-and-dividends.ts';
import type { Coverage } from '../database/prices.ts';
import {
  type HeldSymbol,
  heldSymbols,
  heldUncovered,
  paysNothing,
} from '../database/records/holdings.ts';
import {
  barsBetween,
  type ChosenDay,
  type LedgerDay,
  ledgerDays,
  type LoggedCall,
  refusedCalls,
  usageTotals,
} from '../database/records/performance.ts';
import { MAX_STILL_DAYS } from './figure.ts';
import { staleAmong } from '../database/stale.ts';
import { closingPrice } from '../trading/market.ts';
import { toolArguments, wasMalformed } from '../trading/tool-arguments.ts';
import { orderTools } from '../trading/tools.ts';
import type { BothLevels } from './benchmark.ts';
import { type Choice, daysOf } from './choice.ts';
import type { ModelPeriod } from './comparability.ts';
import type { Factors } from './style.ts';
import { readValueGains } from './details.ts';

/** Before and after every date. */
const EVER = { from: '', to: '~' };

/**
 * A symbol of which some dividend is unknown while a session holds it, and what is known of its
 * dividends.
 */
interface Gap {
  symbol: string;
  spans: readonly Coverage[];
  exDates: ReadonlySet<CalendarDate>;
}

/**
 * Those of some sessions that held a symbol over a morning for which its dividends are neither
 * stored nor covered.
 */
type UnknownSearch = (sessions: readonly ChosenDay[]) => ChosenDay[];

/**
 * Reads what is known of each symbol once, for all calls: mostly that is everything, and no session
 * has to be looked at. Sessions that pay no dividends are never found.
 */
export function createUnknownSearch(database: Database): UnknownSearch {
  const gaps = new Map(
    heldSymbols(database)
      .map((held) => readGap(database, held))
      .filter((gap) => gap !== null)
      .map((gap) => [gap.symbol, gap]),
  );
  return (sessions) => {
    if (gaps.size === 0) return [];
    const paying = sessions.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (const [id, symbol, since, date] of heldUncovered(database, paying, gaps.keys())) {
      const gap = gaps.get(symbol);
      if (gap !== undefined && isUnknown(gap, { after: since, upTo: date })) found.add(id);
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

/**
 * Null for a symbol whose dividends are all known, because they are stored, covered or contained in
 * its prices.
 */
function readGap(database: Database, { symbol, since, lastDate }: HeldSymbol): Gap | null {
  const known = {
    symbol,
    spans: dividendCoverage(database, [symbol], EVER),
    exDates: new Set(dividendsOf(database, symbol).map(({ exDate }) => exDate)),
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
  { from, to }: DateSpan,
): Set<CalendarDate> {
  const found = new Set<CalendarDate>();
  for (const symbol of symbols) {
    const gap = readGap(database, { symbol, since: addDays(from, -MAX_STILL_DAYS), lastDate: to });
    const bars = gap === null ? [] : barsBetween(database, symbol, { from, to });
    for (const [index, { date }] of bars.entries()) {
      const after = bars[index - 1]?.date;
      if (gap === null || after === undefined || !isUnknown(gap, { after, upTo: date })) continue;
      if (date <= addDays(after, MAX_STILL_DAYS)) found.add(date);
    }
  }
  return found;
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

/** What the figures of one model are computed from. */
export type ModelRecord = ReturnType<typeof readRecord>;

/**
 * Refused calls: orders that were understood, calls that were not, and of both those that meant to
 * trade: orders, and calls of tools that do not exist.
 */
function countRefusals(calls: Iterable<LoggedCall>) {
  const refusals = { orders: 0, malformed: 0, tries: 0 };
  for (const call of calls) {
    const isOrder = orderTools.includes(call.tool);
    const result = asObject(tryParse(call.content)) ?? {};
    const orders = 'error' in result ? [result] : objectsIn(result['orders']);
    const refused = orders.filter((order) => 'error' in order).length;
    if (wasMalformed(call)) refusals.malformed += 1;
    else if (isOrder) refusals.orders += refused;
    if (isOrder || !(call.tool in toolArguments)) refusals.tries += refused;
  }
  return refusals;
}

/** What the records of all models share, and which of their parts are wanted. */
interface RecordOptions {
  benchmark: BothLevels;
  /** Per day. */
  riskFree: number;
  /** Null without any. */
  factors: Factors | null;
  withDetails: boolean;
  findUnknown: UnknownSearch;
}

/** The record of one model, with its days and those that they depend on in memory. */
export function readRecord(
  choice: Choice,
  { model, end }: ModelPeriod,
  { withDetails, findUnknown, ...shared }: RecordOptions,
) {
  const { database } = choice;
  const days = daysOf(choice, model);
  const chosen = new Map(days.map(({ sessionId, startDate }) => [sessionId, startDate]));
  const sessionIds = [...chosen.keys()];
  const ledger: readonly LedgerDay[] = ledgerDays(database, sessionIds);
  return {
    ...shared,
    /**
     * The chosen days, at least one, and all that they depend on; each after the day it started
     * from.
     */
    ledger,
    /**
     * The chosen days by session, each with the date of the day it started from; null for the
     * initial cash.
     */
    chosen,
    /** The same in brief, in order. */
    days,
    staleDates: datesOf(staleAmong(database, days)),
    /**
     * Of the model-days that pay no dividends, and of those that pay them but lie in an unknown
     * span of what they held.
     */
    unpaidDates: datesOf(days.filter(({ paysDividends }) => !paysDividends)),
    unknownDates: datesOf(findUnknown(days)),
    usage: usageTotals(database, sessionIds),
    refusals: countRefusals(refusedCalls(database, sessionIds)),
    /** The value of a share at the last day's close; null when no price of the symbol is stored. */
    markOf: (symbol: string) => closingPrice(pricesNow(database), end, symbol)?.price ?? null,
    /** What the details of each symbol need; null unless they are wanted. */
    gains: withDetails ? readValueGains(database, ledger, chosen) : null,
  };
}

function datesOf(days: readonly { date: CalendarDate }[]): Set<CalendarDate> {
  return new Set(days.map(({ date }) => date));
}
