import assert from 'node:assert/strict';
import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import type { Money } from '#money/money.ts';
import type { Database } from '#database/database.ts';
import { isUnknown, readGaps } from '#prices/dividend-gaps.ts';
import { heldSymbols } from '#database/suspicion-queries.ts';
import { uncoveredHoldings } from './holdings-queries.ts';
import {
  barsBetween,
  type ActiveDay,
  type LedgerDay,
  ledgerDays,
  refusalTotals,
  refusedAnswers,
  type UsageTotals,
} from './queries.ts';
import type { Run } from '#database/records/model-records.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import { toolArguments } from '#trading/tool-arguments.ts';
import { orderTools } from '#domain/vocabulary.ts';
import type { LevelPair } from './benchmark.ts';
import type { Factors } from '../style/style.ts';
import { readValueGains } from './details.ts';

/**
 * Finds those of some model-days that held a symbol over a morning for which its dividends are
 * neither stored nor covered; never those that pay no dividends. What is known of each symbol is
 * read once, for all calls: mostly that is everything, and no session has to be looked at.
 */
export function createDividendSearch(database: Database) {
  const gaps = new Map(readGaps(database, heldSymbols(database)).map((gap) => [gap.symbol, gap]));
  return (days: readonly ActiveDay[]): ActiveDay[] => {
    if (gaps.size === 0) return [];
    const paying = days.filter(({ paysDividends }) => paysDividends);
    const found = new Set<number>();
    for (const [id, symbol, since, date] of uncoveredHoldings(database, paying, gaps.keys())) {
      const gap = gaps.get(symbol);
      if (gap !== undefined && isUnknown(gap, { after: since, upTo: date })) found.add(id);
    }
    return paying.filter(({ sessionId }) => found.has(sessionId));
  };
}

/**
 * The days on which some of these series may lack a dividend: after the bar before it, an ex-date
 * is neither stored nor covered. Gaps longer than `MAX_STILL_DAYS` end a series, so nothing is
 * missing after them. Reads the bars only of symbols with a gap.
 */
export function unknownDividendDays(
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

/** A run with its model-days that count, by date. */
export interface CountedRun extends Run {
  days: readonly ActiveDay[];
}

/** What the figures of one model are computed from. */
export type ModelRecord = ReturnType<typeof readModelRecord>;

/** What was refused on some model-days, by model; and answers that were refusals. */
export function countRefusals(database: Database, days: readonly ActiveDay[]) {
  const orders: readonly string[] = orderTools;
  const onlyRead = Object.keys(toolArguments).filter((name) => !orders.includes(name));
  const totals = new Map(refusalTotals(database, days, onlyRead).map((own) => [own.model, own]));
  const answers = new Map(refusedAnswers(database, days));
  return (model: string) => ({
    ...{ orders: 0, malformed: 0, tries: 0 },
    ...totals.get(model),
    answers: answers.get(model) ?? 0,
  });
}

/** What the records of all models share, and which of their parts are wanted. */
interface RecordOptions {
  benchmark: LevelPair;
  /** Per day. */
  riskFree: number;
  /** Of the model's money; what it cost itself is in dollars. */
  currency: string;
  /** Null without any. */
  factors: Factors | null;
  withDetails: boolean;
  findUnknown: ReturnType<typeof createDividendSearch>;
  /** By model. */
  usage: ReadonlyMap<string, UsageTotals>;
  refusals: ReturnType<typeof countRefusals>;
  /** The value of a share at the close of a date; null when no price of the symbol is stored. */
  markOn(date: CalendarDate, symbol: string): Money | null;
}

/** The record of one model, with its days and those that they depend on in memory. */
export function readModelRecord(
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
    staleDates: dateSet(days.filter(({ isStale }) => isStale)),
    /**
     * Of the model-days that pay no dividends, and of those that pay them but lie in an unknown
     * span of what they held.
     */
    unpaidDates: dateSet(days.filter(({ paysDividends }) => !paysDividends)),
    unknownDates: dateSet(findUnknown(days)),
    usage: usage.get(model) ?? assert.fail('a model-day has a row of its job'),
    refusals: refusals(model),
    /** The value of a share at the last day's close, as `markOn` has it. */
    markOf: (symbol: string) => markOn(days.at(-1)?.date ?? '', symbol),
    /** What the details of each symbol need; null unless they are wanted. */
    gains: withDetails ? readValueGains(database, ledger, chosen) : null,
  };
}

function dateSet(days: readonly { date: CalendarDate }[]): Set<CalendarDate> {
  return new Set(days.map(({ date }) => date));
}
