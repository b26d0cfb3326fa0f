import type { CalendarDate } from '#time/calendar.ts';
import { exchangesBetween } from '#database/exchanges.ts';
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
  const known = new Set([...request.universe, ...outside]);
  const brought = new Map<string, CalendarDate>();
  const turns: { symbol: string; date: CalendarDate; isHere: boolean }[] = [];
  // Of any time: what ended long ago is not asked for either.
  const exchanges = exchangesBetween(latestPrices(reader), [...known], { after: '', upTo });
  for (const { symbol, date, into, remains } of exchanges) {
    if (remains === 0) turns.push({ symbol, date, isHere: false });
    turns.push({ symbol: into, date, isHere: true });
    const isNew = into !== '' && !known.has(into) && !brought.has(into);
    if (isNew && date > after && (known.has(symbol) || brought.has(symbol)))
      brought.set(into, date);
  }
  if (turns.length === 0) return request;
  const from = (symbol: string) => brought.get(symbol) ?? '';
  const members = request.members?.concat(
    [...brought].map(([symbol, date]) => ({ symbol, from: date, to: upTo })),
  );
  return {
    ...request,
    universe: [...request.universe, ...brought.keys()],
    members,
    trades: (symbol, date, hasBar) => {
      const last = turns.findLast((turn) => turn.symbol === symbol && turn.date <= date);
      return date >= from(symbol) && (hasBar || (last?.isHere ?? true));
    },
  };
}
