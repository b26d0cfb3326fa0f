import assert from 'node:assert/strict';
import {
  addDays,
  type CalendarDate,
  closedThrough,
  countWeekdays,
  weekdays,
} from '#time/calendar.ts';
import { universeOn } from '#settings/members.ts';
import {
  type Coverage,
  storedPrices,
  symbolsWithAdjustedPrices,
  symbolsWithClosedSource,
} from '#database/prices.ts';
import { type DayNeed, downloadOrder } from './download-order.ts';
import type { PriceContext, PriceRequest, SymbolNeed } from './download.ts';
import { usesSyntheticPrices } from './providers.ts';

/**
 * Whether a date can be simulated. `available`: it has prices. `no_trading`: it is known to have
 * none (a holiday). `missing`: its prices are unknown.
 */
export type Availability = 'available' | 'no_trading' | 'missing';

export interface DatePrices {
  date: CalendarDate;
  availability: Availability;
  /** Universe symbols without a bar on this date, and those of them without coverage. */
  unpriced: string[];
  missing: string[];
  /** Universe symbols with a partial bar and without coverage. */
  partial: string[];
}

/** What decides whether a date is available: without required symbols any known price does. */
interface Requirement {
  isRequired: (symbol: string, date: CalendarDate) => boolean;
  members?: PriceRequest['members'];
}

/**
 * Classifies each date: available when every required symbol of the universe has a bar or is
 * covered, and at least one has a bar; without trading when all are covered and none has a bar. If
 * no symbol is required (nothing can be downloaded), a single bar makes a date available, and a
 * single covered symbol makes a date without bars one without trading. A partial bar has no close:
 * enough for trading, though its day is over by now. With `members` the universe of a date is those
 * of its morning: what is not listed yet keeps no date from being available. What does not trade,
 * as exchanges tell, is not missing.
 */
export function examineDates(
  dates: readonly CalendarDate[],
  {
    universe: all,
    stored,
    isRequired,
    members,
    trades = () => true,
  }: Pick<PriceRequest, 'universe' | 'trades'> &
    Requirement & { stored: ReturnType<typeof storedPrices> },
): DatePrices[] {
  const barsByDate = Map.groupBy(stored.bars, ({ date }) => date);
  const spansBySymbol = Map.groupBy(stored.coverage, ({ symbol }) => symbol);
  return dates.map((date) => {
    const bars = new Map(
      barsByDate.get(date)?.map(({ symbol, isPartial }) => [symbol, isPartial === 1]),
    );
    const universe = [...universeOn({ stock_symbols: all, members }, date)].filter((symbol) =>
      trades(symbol, date, bars.has(symbol)),
    );
    const isCovered = (symbol: string) =>
      spansBySymbol
        .get(symbol)
        ?.some(({ startDate, endDate }) => startDate <= date && date <= endDate) ?? false;
    const unpriced = universe.filter((symbol) => !bars.has(symbol));
    const missing = unpriced.filter((symbol) => !isCovered(symbol));
    const partial = universe.filter((symbol) => bars.get(symbol) && !isCovered(symbol));
    const isKnown =
      missing.length < universe.length && !missing.some((symbol) => isRequired(symbol, date));
    const hasBar = unpriced.length < universe.length;
    return {
      date,
      unpriced,
      missing,
      partial,
      availability: !isKnown ? 'missing' : hasBar ? 'available' : 'no_trading',
    };
  });
}

/** The unknown dates between covered spans, both ends included. */
interface CoverageGap extends Omit<Coverage, 'symbol'> {
  weekdays: number;
}

/**
 * The gaps between spans that contain a weekday. Spans come in order of their starts, whatever
 * their sources.
 */
export function gapsBetween(spans: readonly Omit<Coverage, 'symbol'>[]): CoverageGap[] {
  const gaps: CoverageGap[] = [];
  let known: CalendarDate | null = null;
  for (const { startDate, endDate } of spans) {
    if (known !== null && startDate > known) {
      const gap = { startDate: addDays(known, 1), endDate: addDays(startDate, -1) };
      gaps.push({ ...gap, weekdays: countWeekdays(gap.startDate, gap.endDate) });
    }
    if (known === null || endDate > known) known = endDate;
  }
  return gaps.filter((gap) => gap.weekdays > 0);
}

/** What is missing, as each kind of provider needs to know it. */

/**
 * Bars that are read at a time, to be held in memory. A universe has at most half as many symbols.
 */
const BARS_AT_A_TIME = 2_000;

type Needed = Pick<PriceRequest, 'dates' | 'universe' | 'trades'>;

/** Which dates the stored prices allow. */
export function examine(
  { database, settings }: PriceContext,
  { dates, universe, trades }: Needed,
  requirement: Requirement = { isRequired: () => false },
): DatePrices[] {
  const examined: DatePrices[] = [];
  // By the calendar, of whose seven days five may have bars: those between dates far apart are not
  // to be read.
  const daysAtATime = Math.ceil((7 * BARS_AT_A_TIME) / (5 * Math.max(universe.length, 1)));
  for (let startDate = dates[0]; startDate !== undefined; startDate = dates[examined.length]) {
    const end = addDays(startDate, daysAtATime);
    const next = dates.findIndex((date) => date >= end);
    const some = dates.slice(examined.length, next === -1 ? dates.length : next);
    const endDate = some.at(-1) ?? startDate;
    const stored = storedPrices(database, universe, {
      startDate,
      endDate,
      synthetic: usesSyntheticPrices(settings),
    });
    examined.push(...examineDates(some, { universe, stored, trades, ...requirement }));
  }
  return examined;
}

/**
 * The dates on which something is missing that can be known by now, with its symbols; the closes of
 * a day that is not over are not.
 */
export function listMissing(
  examined: readonly DatePrices[],
  { clock }: Pick<PriceContext, 'clock'>,
): { date: CalendarDate; symbols: string[] }[] {
  const closed = closedThrough(clock());
  return examined.flatMap(({ date, missing, partial }) => {
    const symbols = date <= closed ? [...missing, ...partial] : missing;
    return symbols.length > 0 ? [{ date, symbols }] : [];
  });
}

/** From when to when each symbol is missing. */
export function missingSpans(days: ReturnType<typeof listMissing>): Map<string, SymbolNeed> {
  const spans = new Map<string, SymbolNeed>();
  for (const { date, symbols } of days)
    for (const symbol of symbols)
      spans.set(symbol, { symbol, first: spans.get(symbol)?.first ?? date, last: date });
  return spans;
}

/**
 * What to download symbol by symbol, the most useful first: symbols that dates require, then those
 * with partial bars, then holdings outside the universe.
 */
export function symbolNeeds(
  context: PriceContext,
  request: PriceRequest,
  outside: readonly string[],
): SymbolNeed[] {
  const examined = examine(context, request);
  const inUniverse = listMissing(examined, context);
  const heldNeeds = listMissing(examine(context, { ...request, universe: outside }), context);
  const spans = missingSpans([...inUniverse, ...heldNeeds]);
  const order = new Set([...downloadOrder(examined), ...spans.keys()]);
  const adjusted = symbolsWithAdjustedPrices(context.database, [...order]);
  return [...order]
    .filter((symbol) => !adjusted.has(symbol))
    .slice(0, request.downloadsLeft ?? undefined)
    .flatMap((symbol) => spans.get(symbol) ?? []);
}

/** What to download from a provider of whole days. */
export type WantedDays = ReturnType<typeof wantedDays>;

/**
 * What to download day by day. `heldSince` is the earliest of the days that the models last closed.
 */
export function wantedDays(
  context: PriceContext,
  request: PriceRequest,
  { outside, heldSince }: { outside: readonly string[]; heldSince: CalendarDate },
) {
  const { database, settings } = context;
  const [first, last] = [request.dates.at(0), request.dates.at(-1)];
  assert(first !== undefined && last !== undefined, 'a request for prices has dates');
  const everything = [...request.universe, ...outside];
  const adjusted = symbolsWithAdjustedPrices(database, everything);
  const universe = request.universe.filter((symbol) => !adjusted.has(symbol));
  const symbols = everything.filter((symbol) => !adjusted.has(symbol));
  const closed = symbolsWithClosedSource(database, everything);
  const days = symbols.length > 0 ? settings.priceHistoryDays : 0;
  // Calendar days that certainly contain so many trading days.
  const from = days === 0 ? first : addDays(first, -(2 * days + 7));
  return {
    /** The job's dates on which something is missing. */
    needs: dayNeeds(context, { ...request, universe, symbols }),
    /** The job's first and last date. */
    first,
    last,
    /**
     * The symbols to store, the universe first. Those with prices that are adjusted for splits are
     * not among them.
     */
    symbols,
    /** Whose splits and dividends are to be known, and from which date on. */
    actions: {
      symbols: everything.filter((symbol) => !closed.has(symbol)),
      from: heldSince < from ? addDays(heldSince, 1) : from,
    },
    history: {
      /** Trading days before the first date. */
      days,
      stateOf: historyStates(context, { from, first, symbols, trades: request.trades }),
      /** Whether a limit is waited out for all of them, not only for the nearest. */
      isWaitedFor: request.waitsForHistory ?? false,
    },
    /** The most days to download, without those that are refused; null without a bound. */
    downloadsLeft: request.downloadsLeft ?? null,
  };
}

function dayNeeds(
  context: PriceContext,
  { symbols, ...needed }: Needed & { symbols: readonly string[] },
): DayNeed[] {
  const lacking = examine(context, needed).filter((day) => day.missing.length > 0);
  const required = new Set(lacking.map(({ date }) => date));
  const ofSymbols = examine(context, { ...needed, universe: symbols });
  return listMissing(ofSymbols, context).map(({ date }) => ({
    date,
    isRequired: required.has(date),
  }));
}

/**
 * What is stored of a date before the first one: all bars, some, none, or the knowledge that there
 * are none.
 */
function historyStates(
  context: PriceContext,
  {
    from,
    first,
    symbols,
    trades,
  }: { from: CalendarDate; first: CalendarDate; symbols: readonly string[] } & Pick<
    PriceRequest,
    'trades'
  >,
) {
  const dates = weekdays(from, addDays(first, -1));
  const days = new Map(
    examine(context, { dates, universe: symbols, trades }, { isRequired: () => true }).map(
      (day) => [day.date, day],
    ),
  );
  return (date: CalendarDate): 'whole' | 'partial' | 'unknown' | 'no_trading' => {
    const day = days.get(date);
    if (day === undefined) return 'unknown';
    const isWhole = day.missing.length === 0 && day.partial.length === 0;
    if (isWhole) return day.availability === 'no_trading' ? 'no_trading' : 'whole';
    return day.missing.length < symbols.length ? 'partial' : 'unknown';
  };
}
