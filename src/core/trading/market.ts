import assert from 'node:assert/strict';
import type { Mark } from '#database/evidence.ts';
import {
  barOn,
  lastBars,
  type MarketBar,
  quotesOn,
  type Split,
  splitsBetween,
} from '#database/market-queries.ts';
import type { PricesAt } from '#database/price-writes.ts';
import type { Bar } from '#database/prices.ts';
import { ServiceError } from '#domain/service-error.ts';
import { addDays, type CalendarDate } from '#time/calendar.ts';
import {
  asMoney,
  dividedHalfUp,
  LEAST_PRICE,
  type Money,
  money,
  parseFraction,
  priceUnits,
  toDollars,
  toPrice,
  UNITS_PER_DOLLAR,
} from '#money/money.ts';
import { type ShareRatio, splitFactors } from './share-events.ts';

/**
 * A symbol on the morning of the session date, in exact money; prices are adjusted for splits up to
 * that date.
 */
interface Quote {
  open: Money | null;
  previousDate: CalendarDate | null;
  /**
   * Null too when splits make it larger than what is counted exactly: only a portfolio with the
   * symbol cannot be valued then.
   */
  previousClose: Money | null;
  /** Whether that was adjusted for splits when it was stored. */
  isAdjusted?: 1;
}

/**
 * The prices of one session date as a model may know them: earlier days whole, the session date's
 * open, nothing later. Shared by all models of that date, so that they see the same numbers. Bars
 * are in dollars, adjusted for splits up to the session date.
 */
export interface Market {
  /** Price version this market reads; fixed in the morning. */
  readonly prices: PricesAt;
  readonly date: CalendarDate;
  quote(symbol: string): Quote;
  /**
   * The value of a share during the session, with the date of its bar: the open, otherwise the last
   * earlier close, otherwise the last earlier open. Null when no price of the symbol up to the date
   * is stored. With an earlier date, in the shares of that one.
   */
  knownMark(symbol: string, sharesOf?: CalendarDate): Mark | null;
  bar(symbol: string, date: CalendarDate): Bar | null;
  /** The last `count` bars, oldest first; the session date's own has only its open. */
  bars(symbol: string, count: number): Bar[];
}

export function openMarket(
  prices: PricesAt,
  date: CalendarDate,
  symbols: readonly string[],
): Market {
  const quotes = loadQuotes(prices, date, symbols);
  const quote = (symbol: string): Quote => {
    const found = quotes.get(symbol) ?? loadQuotes(prices, date, [symbol]).get(symbol);
    assert(found, 'every symbol that is asked for has a quote');
    quotes.set(symbol, found);
    return found;
  };
  const adjusted = (bars: MarketBar[]): Bar[] => {
    const [oldest] = bars;
    if (oldest === undefined) return [];
    const splits = splitsBetween(prices, [oldest.symbol], { after: oldest.date, upTo: date });
    return bars.map((bar) => adjustForSplits(bar, splits));
  };
  return {
    prices,
    date,
    quote,
    knownMark: markReader({ prices, date, quote }),
    bar(symbol, day) {
      const bar = barOn(prices, date, { symbol, date: day });
      return adjusted(bar ? [bar] : [])[0] ?? null;
    },
    bars: (symbol, count) => adjusted(lastBars(prices, date, { symbol, count }).reverse()),
  };
}

/** The known marks of a market whose quotes have an open or hide it. */
function markReader({
  prices,
  date,
  quote,
}: Pick<Market, 'prices' | 'date' | 'quote'>): Market['knownMark'] {
  const marks = new Map<string, Mark | null>();
  const knownMark = (symbol: string): Mark | null => {
    const { open } = quote(symbol);
    if (open !== null) return { price: open, date };
    const known = marks.get(symbol);
    if (known !== undefined) return known;
    const earlier = earlierPrice(prices, date, { symbol, quote: quote(symbol) });
    const mark = toExactMark(symbol, date, earlier);
    marks.set(symbol, mark);
    return mark;
  };
  return (symbol, sharesOf = date) => {
    const mark = knownMark(symbol);
    if (mark === null || sharesOf === date) return mark;
    // From its bar again, so that it is rounded once.
    const bar = barOn(prices, date, { symbol, date: mark.date });
    return bar ? toExactMark(symbol, sharesOf, barMark(prices, bar, sharesOf)) : mark;
  };
}

/** The price of a bar in the shares of a date, which may be an earlier one. */
function barMark(
  prices: PricesAt,
  { symbol, date, open, close }: MarketBar,
  of: CalendarDate,
): Mark {
  const [after = '', upTo = ''] = [date, of].sort();
  const [newShares, oldShares] = splitFactors(splitsBetween(prices, [symbol], { after, upTo }));
  const factors: ShareRatio = date < of ? [newShares, oldShares] : [oldShares, newShares];
  return { price: convertedPrice(close ?? open, factors), date };
}

/** The value of a share during the session. Throws a `ServiceError` where it is not known. */
export function currentMark({ date, knownMark }: Market, symbol: string): Money {
  return (knownMark(symbol) ?? failWithoutPrice(symbol, date)).price;
}

export function failWithoutPrice(symbol: string, date: CalendarDate): never {
  const problem = `Cannot value ${symbol} on ${date}: no price of it is stored`;
  throw new ServiceError('no_prices', problem);
}

/** A market in which symbols without a known price have one of these, as of the day before. */
export function withMarks(market: Market, marks: ReadonlyMap<string, Mark>): Market {
  return {
    ...market,
    knownMark: (symbol) => market.knownMark(symbol) ?? marks.get(symbol) ?? null,
  };
}

/** A market before its open: without the prices and the volume of the session date. */
export function hideOpen(market: Market): Market {
  const { prices, date } = market;
  const quote = (symbol: string): Quote => ({ ...market.quote(symbol), open: null });
  return {
    ...market,
    quote,
    knownMark: markReader({ prices, date, quote }),
    bar: (symbol, day) => (day < date ? market.bar(symbol, day) : null),
    bars: (symbol, count) =>
      market
        .bars(symbol, count + 1)
        .filter((bar) => bar.date < date)
        .slice(-count),
  };
}

/**
 * The value of a share at the end of a date: its close; its open while the close is unknown;
 * without a bar the last earlier close (or, failing that, open), adjusted for splits since. Null
 * when no price up to the date is stored (any more). Throws a `TooLarge` for a price that splits
 * make larger than what is counted exactly.
 */
export function closingMark(prices: PricesAt, date: CalendarDate, symbol: string): Mark | null {
  return toExactMark(symbol, date, closingPrice(prices, date, symbol));
}

/** Closing mark for reports, without a bound. */
export function closingPrice(prices: PricesAt, date: CalendarDate, symbol: string): Mark | null {
  const bar = barOn(prices, addDays(date, 1), { symbol, date }); // whole, as the next day knows it
  if (bar) return { price: toPrice(bar.close ?? bar.open), date };
  const [quote] = loadQuotes(prices, date, [symbol]).values();
  return earlierPrice(prices, date, { symbol, quote });
}

/** The last close before a date or, failing that, the last open, adjusted for splits since. */
function earlierPrice(
  prices: PricesAt,
  date: CalendarDate,
  { symbol, quote }: { symbol: string; quote: Quote | undefined },
): Mark | null {
  if (quote?.previousDate && quote.previousClose !== null)
    return { price: quote.previousClose, date: quote.previousDate };
  const bar = lastBars(prices, date, { symbol, count: 2 }).find((own) => own.date < date);
  return bar ? barMark(prices, bar, date) : null;
}

function toExactMark(symbol: string, date: CalendarDate, mark: Mark | null): Mark | null {
  return (
    mark && {
      ...mark,
      price: money(
        mark.price,
        (dollars) => `The price of ${symbol} on ${date}, ${dollars} dollars,`,
      ),
    }
  );
}

function loadQuotes(
  prices: PricesAt,
  date: CalendarDate,
  symbols: readonly string[],
): Map<string, Quote> {
  const rows = quotesOn(prices, date, symbols);
  const [oldest = date] = rows.map(({ previousDate }) => previousDate ?? date).sort();
  const splits = splitsBetween(prices, symbols, { after: oldest, upTo: date });
  return new Map(
    rows.map(({ symbol, open, previousDate, previousClose, isAdjusted }) => {
      const own = splits.filter((split) => split.symbol === symbol);
      const factors = splitFactors(own, previousDate ?? date);
      const close = previousClose === null ? null : convertedPrice(previousClose, factors);
      const quote: Quote = {
        open: open === null ? null : toPrice(open),
        previousDate,
        previousClose: Number.isSafeInteger(close) ? close : null,
        ...(isAdjusted && { isAdjusted }),
      };
      return [symbol, quote];
    }),
  );
}

/**
 * A stored price per old share in that per new one: exactly from its decimal digits, and rounded
 * once, a half up. Without a bound.
 */
function convertedPrice(dollars: number, [newShares, oldShares]: ShareRatio): Money {
  if (newShares === oldShares) return asMoney(priceUnits(dollars));
  const { over, under } = parseFraction(String(dollars)) ?? assert.fail('a price is a number');
  const units = dividedHalfUp(over * oldShares * BigInt(UNITS_PER_DOLLAR), under * newShares);
  return asMoney(Math.max(LEAST_PRICE, Number(units)));
}

function adjustForSplits(bar: MarketBar, splits: readonly Split[]): Bar {
  const { symbol, date, open, high, low, close, volume } = bar;
  const factors = splitFactors(splits, date);
  const [newShares, oldShares] = factors;
  const adjusted = (dollars: number) => toDollars(convertedPrice(dollars, factors));
  return {
    symbol,
    date,
    open: adjusted(open),
    high: high && adjusted(high),
    low: low && adjusted(low),
    close: close && adjusted(close),
    volume: volume && (volume * Number(newShares)) / Number(oldShares),
  };
}
