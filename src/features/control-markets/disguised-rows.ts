import type { Reader } from '#database/database.ts';
import type { StoredExchange } from '#database/exchanges.ts';
import type { Split } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import type { StoredBar } from '#database/prices.ts';
import {
  confirmedDividends,
  dividendCoverage,
  dividendsBetween,
  nonPayingSymbols,
} from '#database/splits-and-dividends.ts';
import { ServiceError } from '#domain/service-error.ts';
import { UNITS_PER_DOLLAR } from '#money/money.ts';
import { MAX_CASH, parseShares } from '#prices/amounts.ts';
import { gapsBetween } from '#prices/needs.ts';
import { MAX_PRICE, MAX_VOLUME } from '#prices/row.ts';
import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import {
  cashPerShare,
  exchangeRatio,
  MILLIONTHS,
  sharesPerOld,
  splitFactors,
} from '#trading/share-events.ts';
import { DISGUISE_COLUMNS } from '../price-files/csv.ts';
import { type Disguise, shiftBack } from './key.ts';

/** Stored prices, dividends and exchanges as the lines of a control market's files. */

/** A disguise with what its prices and dividends need besides. */
export interface DisguisedSeries extends Disguise {
  weeks: number;
  splits: readonly Split[];
}

function outOfRange({ symbol }: Disguise, what: string): ServiceError {
  const problem = `its ${what} would be out of range; try another seed`;
  return new ServiceError('no_prices', `Cannot disguise ${symbol}: ${problem}`);
}

/**
 * What dollars per share are multiplied by after a date: the factor, divided by the new shares for
 * an old one of the splits that follow.
 */
function priceScale({ splits, factor }: DisguisedSeries, after: CalendarDate): number {
  return factor / sharesPerOld(splitFactors(splits, after));
}

export const HEADER = `${DISGUISE_COLUMNS.join()}\n`;

/** A line of a file: what it says of a symbol on a date, in disguise. */
function disguisedLine(
  series: DisguisedSeries,
  date: CalendarDate,
  cells: readonly (string | number | null | undefined)[],
): string {
  return `${[series.code, shiftBack(date, series), ...cells].join()}\n`;
}

/**
 * The bars of one symbol as lines of `prices.csv`: adjusted for its splits after each bar,
 * multiplied by the factor, under the code, on the shifted date. An unknown value stays an empty
 * cell. Throws a `ServiceError` (`no_prices`) for a bar that would no longer be one.
 */
export function disguisedRows(
  bars: readonly Omit<StoredBar, 'adjusted'>[],
  series: DisguisedSeries,
): string[] {
  return bars.map(({ date, open, high, low, close, volume }) => {
    const scale = priceScale(series, date);
    const prices = [open, high, low, close].map(
      (price) => price && Math.round(price * scale * UNITS_PER_DOLLAR) / UNITS_PER_DOLLAR,
    );
    const traded = volume && Math.round(volume / scale);
    const isOut = prices.some((price) => price === 0 || (price ?? 0) > MAX_PRICE);
    if (isOut || (traded ?? 0) > MAX_VOLUME) throw outOfRange(series, `bar of ${date}`);
    return disguisedLine(series, date, [...prices, traded, 'disguise']);
  });
}

/**
 * The dividends of one symbol as lines of `dividends.csv`: under the code, on shifted ex-dates,
 * adjusted for splits and multiplied by the factor like its prices. Rows with an amount of 0 mark
 * both ends of the span in which they are known; none do where there is a gap in it. Throws a
 * `ServiceError` (`no_prices`) for a dividend that would no longer be one.
 */
export function disguisedDividends(reader: Reader, series: DisguisedSeries, span: DateSpan) {
  const { symbol } = series;
  const confirmed = confirmedDividends(reader, symbol);
  const toRow = (date: CalendarDate, cash: number) => {
    const isConfirmed = cash > 0 && confirmed.has(date);
    const cells = [cash / MILLIONTHS, isConfirmed ? 'yes' : ''];
    return { row: disguisedLine(series, date, cells), cash };
  };
  // What is held at the close of the first bar is paid from the next day on.
  const window = { after: span.from, upTo: span.to };
  const dividends = dividendsBetween(latestPrices(reader), [symbol], window).map((dividend) => {
    const { exDate } = dividend;
    // On one day the dividend comes before the split.
    const scale = priceScale(series, addDays(exDate, -1));
    const cash = Math.round(cashPerShare(dividend) * scale);
    if (cash > MAX_CASH) throw outOfRange(series, `dividend of ${exDate}`);
    return toRow(exDate, cash);
  });
  const ends = new Set(knownSpan(reader, symbol, span));
  return [...[...ends].map((date) => toRow(date, 0)), ...dividends];
}

/**
 * Both ends of the part of a span in which a symbol's dividends are known; none where it is none,
 * or several.
 */
function knownSpan(reader: Reader, symbol: string, { from, to }: DateSpan): CalendarDate[] {
  if (nonPayingSymbols(reader, [symbol]).has(symbol)) return [from, to];
  const spans = dividendCoverage(reader, [symbol], { from, to });
  if (gapsBetween(spans).length > 0) return [];
  const dates = spans.flatMap(({ startDate, endDate }) => [
    startDate < from ? from : startDate,
    endDate > to ? to : endDate,
  ]);
  return dates.sort().filter((_, place) => place === 0 || place === dates.length - 1);
}

/**
 * Exchanges as lines of `exchanges.csv`: cash like the prices of the old share, new shares for old
 * ones so that the same part of its value comes. Throws a `ServiceError` (`no_prices`) for one that
 * would no longer be one.
 */
export function disguisedExchanges(
  exchanges: readonly StoredExchange[],
  series: ReadonlyMap<string, DisguisedSeries>,
): string[] {
  const rows = exchanges.flatMap((exchange) => {
    const { symbol, date, into, remains } = exchange;
    const old = series.get(symbol);
    if (old === undefined) return [];
    const scale = priceScale(old, date);
    const perShare = cashPerShare(exchange);
    const cash = Math.round(perShare * scale);
    const own = series.get(into);
    const ratio = sharesPerOld(exchangeRatio(exchange)) * scale;
    const shares = own && parseShares(String(ratio / priceScale(own, date)), '1');
    if (cash > MAX_CASH || (cash === 0 && perShare > 0) || shares === null)
      throw outOfRange(old, `exchange of ${date}`);
    const stays = own && remains === 1 ? 'yes' : '';
    const brought = [own?.code, shares?.numerator, shares?.denominator, stays];
    return disguisedLine(old, date, [cash / MILLIONTHS, ...brought]);
  });
  return rows.sort(); // in an order that tells nothing
}
