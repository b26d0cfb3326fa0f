import assert from 'node:assert/strict';
import {
  addDays,
  type CalendarDate,
  isCalendarDate,
  isWeekday,
  type DateSpan,
} from '../../core/time/calendar.ts';
import type { Money } from '../../core/money/money.ts';
import type { Database } from '../../core/database/database.ts';
import { dividendCoverage, dividendsOf } from '../../core/database/splits-and-dividends.ts';
import type { Coverage } from '../../core/database/prices.ts';
import { type HeldSymbol, heldUncovered, payingNothing } from './holdings-queries.ts';
import {
  barsBetween,
  type ActiveDay,
  type LedgerDay,
  ledgerDays,
  refusalTotals,
  refusedAnswers,
  type UsageTotals,
} from './queries.ts';
import type { Run } from '../../core/database/records/model-records.ts';
import { MAX_STILL_DAYS } from './figure.ts';
import { toolArguments } from '../../core/trading/tool-arguments.ts';
import { orderTools } from '../../core/trading/tools.ts';
import type { BothLevels } from './benchmark.ts';
import type { Factors } from '../style/style.ts';
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
 * Finds those of some model-days that held a symbol over a morning for which its dividends are
 * neither stored nor covered; never those that pay no dividends. What is known of each symbol is
 * read once, for all calls: mostly that is everything, and no session has to be looked at.
 */
export function createUnknownSearch(database: Database, held: readonly HeldSymbol[]) {
  const gaps = new Map(readGaps(database, held).map((gap) => [gap.symbol, gap]));
  return (days: readonly ActiveDay[]): ActiveDay[] => {
    if (gaps.size === 0) return [];
    const paying = days.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (const [id, symbol, since, date] of heldUncovered(database, paying, gaps.keys())) {
      const gap = gaps.get(symbol);
      if (gap !== undefined && isUnknown(gap, { after: since, upTo: date })) found.add(id);
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

/**
 * What is known of the dividends of some symbols, but of those of which all are, because they are
 * stored, covered or contained in their prices.
 */
export function readGaps(database: Database, held: readonly HeldSymbol[]): Gap[] {
  const symbols = held.map(({ symbol }) => symbol);
  const spans = Map.groupBy(dividendCoverage(database, symbols, EVER), ({ symbol }) => symbol);
  const stored = Map.groupBy(dividendsOf(database, symbols), ({ symbol }) => symbol);
  const gaps = held.flatMap(({ symbol, since, lastDate }) => {
    const exDates = new Set(stored.get(symbol)?.map(({ exDate }) => exDate));
    const gap = { symbol, spans: spans.get(symbol) ?? [], exDates };
    return isUnknown(gap, { after: since, upTo: lastDate }) ? [gap] : [];
  });
  const free = payingNothing(
    database,
    gaps.map(({ symbol }) => symbol),
  );
  return gaps.filter(({ symbol }) => !free.has(symbol));
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
  const since = addDays(from, -MAX_STILL_DAYS);
  const held = symbols.map((symbol) => ({ symbol, since, lastDate: to }));
  for (const gap of readGaps(database, held)) {
    const bars = barsBetween(database, gap.symbol, { from, to });
    for (const [index, { date }] of bars.entries()) {
      const after = bars[index - 1]?.date;
      if (after === undefined || !isUnknown(gap, { after, upTo: date })) continue;
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

/** A run with its model-days that count, by date. */
export interface CountedRun extends Run {
  days: readonly ActiveDay[];
}

/** What the figures of one model are computed from. */
export type ModelRecord = ReturnType<typeof readRecord>;

const NO_REFUSALS = { orders: 0, malformed: 0, tries: 0 };

/** What was refused on some model-days, by model; and answers that were refusals. */
export function countRefusals(database: Database, days: readonly ActiveDay[]) {
  const onlyRead = Object.keys(toolArguments).filter((name) => !orderTools.includes(name));
  const totals = refusalTotals(database, days, onlyRead);
  const answers = refusedAnswers(database, days);
  return (model: string) => ({
    ...NO_REFUSALS,
    ...totals.get(model),
    answers: answers.get(model) ?? 0,
  });
}

/** What the records of all models share, and which of their parts are wanted. */
interface RecordOptions {
  benchmark: BothLevels;
  /** Per day. */
  riskFree: number;
  /** Null without any. */
  factors: Factors | null;
  withDetails: boolean;
  findUnknown: ReturnType<typeof createUnknownSearch>;
  /** By model. */
  usage: ReadonlyMap<string, UsageTotals>;
  refusals: ReturnType<typeof countRefusals>;
  /** The value of a share at the close of a date; null when no price of the symbol is stored. */
  markOn(date: CalendarDate, symbol: string): Money | null;
}

/** The record of one model, with its days and those that they depend on in memory. */
export function readRecord(
  database: Database,
  { model, days }: CountedRun,
  { withDetails, findUnknown, usage, refusals, markOn, ...shared }: RecordOptions,
) {
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
    staleDates: datesOf(days.filter(({ isStale }) => isStale)),
    /**
     * Of the model-days that pay no dividends, and of those that pay them but lie in an unknown
     * span of what they held.
     */
    unpaidDates: datesOf(days.filter(({ paysDividends }) => !paysDividends)),
    unknownDates: datesOf(findUnknown(days)),
    usage: usage.get(model) ?? assert.fail('a model-day has a row of its job'),
    refusals: refusals(model),
    /** The value of a share at the last day's close, as `markOn` has it. */
    markOf: (symbol: string) => markOn(days.at(-1)?.date ?? '', symbol),
    /** What the details of each symbol need; null unless they are wanted. */
    gains: withDetails ? readValueGains(database, ledger, chosen) : null,
  };
}

function datesOf(days: readonly { date: CalendarDate }[]): Set<CalendarDate> {
  return new Set(days.map(({ date }) => date));
}
