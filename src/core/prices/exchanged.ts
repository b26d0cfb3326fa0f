import type { CalendarDate } from '#time/calendar.ts';
import { arrivalDates, exchangesBetween } from '#database/exchanges.ts';
import { latestPrices } from '#database/price-writes.ts';
import type { Reader } from '#database/database.ts';
import type { PriceRequest } from './download.ts';

/** What exchanges mean for the prices that a job needs. */

/**
 * A request with the symbols that exchanges bring to its universe, and to what is held outside it,
 * each from its date on and through all that follow; and without symbols that no longer trade, but
 * for bars that are stored.
 */
export function withExchanges(
  reader: Reader,
  request: PriceRequest,
  { outside, after, upTo }: { outside: readonly string[]; after: CalendarDate; upTo: CalendarDate },
): PriceRequest {
  const known = [...request.universe, ...outside];
  const prices = latestPrices(reader);
  // Of any time: what ended long ago is not asked for either.
  const exchanges = exchangesBetween(prices, known, { after: '', upTo });
  if (exchanges.length === 0) return request;
  const since = arrivalDates(known, '', exchangesBetween(prices, known, { after, upTo }));
  const brought = [...since].slice(new Set(known).size);
  return {
    ...request,
    universe: [...request.universe, ...brought.map(([symbol]) => symbol)],
    members: request.members?.concat(brought.map(([symbol, from]) => ({ symbol, from, to: upTo }))),
    trades(symbol, date, hasBar) {
      const last = exchanges.findLast(
        (own) =>
          own.date <= date && (own.into === symbol || (own.symbol === symbol && !own.remains)),
      );
      const isHere = hasBar || last === undefined || last.into === symbol;
      return isHere && date >= (since.get(symbol) ?? '');
    },
  };
}
