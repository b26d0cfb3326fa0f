import type { StoredExchange } from '#database/exchanges.ts';
import { MAX_CASH, parseRatio } from '#prices/amounts.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { cashPerShare, exchangeRatio } from '#trading/morning.ts';
import { createUniforms } from '../statistics/random.ts';
import {
  type Disguise,
  drawDisguises,
  type Key,
  MILLIONTHS,
  outOfRange,
  priceScale,
  type DisguisedSeries,
  shiftBack,
} from './key.ts';

/** The exchanges of a control market. */

export const EXCHANGES_HEADER = 'symbol,date,cash,into,numerator,denominator,remains\n';

/**
 * The disguises of a key and of what exchanges bring from outside its universe, by a draw that
 * follows from the key.
 */
export function drawAll({ disguises }: Key, exchanges: readonly StoredExchange[]): Disguise[] {
  const known = new Set(disguises.map(({ symbol }) => symbol));
  const brought = new Set(exchanges.map(({ into }) => into)).difference(known.add(''));
  const mask = disguises.every(({ symbol, code }) => symbol === code) ? 'dates' : 'both';
  const factors = disguises.map(({ factor }) => factor).sort();
  const uniform = createUniforms(`exchanges ${factors.join()}`);
  return drawDisguises(brought, uniform, mask, disguises);
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
  const scaleOn = (date: CalendarDate, { splits, factor }: DisguisedSeries) =>
    priceScale(
      splits.filter((split) => split.date > date),
      factor,
    );
  const rows = exchanges.flatMap((exchange) => {
    const { symbol, date, into, remains } = exchange;
    const [old, own] = [series.get(symbol), series.get(into)];
    if (old === undefined) return [];
    const scale = scaleOn(date, old);
    const perShare = cashPerShare({ ...exchange, basis: 'as_paid' });
    const cash = Math.round(perShare * scale);
    if (cash > MAX_CASH || (cash === 0 && perShare > 0))
      throw outOfRange(symbol, `exchange of ${date}`);
    const start = [old.code, shiftBack(date, old), cash / MILLIONTHS];
    if (own === undefined) return `${[...start, '', '', '', ''].join()}\n`;
    const [numerator, denominator] = exchangeRatio(exchange);
    const ratio = ((Number(numerator) / Number(denominator)) * scale) / scaleOn(date, own);
    const shares = ratio === 1 ? { numerator: 1, denominator: 1 } : parseRatio(`${ratio}`, '1');
    if (shares === null) throw outOfRange(symbol, `exchange of ${date}`);
    const end = [own.code, shares.numerator, shares.denominator, remains === 1 ? 'yes' : ''];
    return `${[...start, ...end].join()}\n`;
  });
  return rows.sort(); // in an order that tells nothing
}
