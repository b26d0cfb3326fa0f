import type { CalendarDate } from '#time/calendar.ts';
import { findBoard, type MarketRules } from '#domain/market-rules.ts';
import type { Side } from '#database/decisions.ts';
import { namesSinceClose } from '#database/exchanges.ts';
import { quotesOn, splitsBetween } from '#database/market-queries.ts';
import type { PricesAt } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { dividedHalfUp, priceUnits } from '#money/money.ts';
import type { Market } from './market.ts';
import { MILLIONTHS_PER_UNIT, shareEvents } from './share-events.ts';

/** Within which prices a share may trade on a date, where its market has a limit. */

/** Units of money in a cent, and the millionths in which limits are counted. */
const [UNITS_PER_CENT, MILLION] = [100n, 1_000_000n];

/**
 * The price from which a limit counts, in cents: the last close before, less the dividends and
 * divided by the splits since, in their order. Null without a close, and on a series that is adjusted
 * for splits, whose prices never were those of the exchange. A close of an earlier name counts where
 * that is later.
 */
function referenceCents(prices: PricesAt, date: CalendarDate, symbol: string): bigint | null {
  const names = namesSinceClose(prices, symbol, date).reverse();
  const [last] = names.slice(0, 1).flatMap((own) => quotesOn(prices, own.upTo, [own.symbol]));
  if (last?.previousDate == null || last.previousClose === null || last.isAdjusted) return null;
  let after = last.previousDate;
  let [left, perNew] = [BigInt(priceUnits(last.previousClose)) * MILLIONTHS_PER_UNIT, 1n];
  for (const { symbol: name, upTo } of names) {
    const dividends = dividendsBetween(prices, [name], { after, upTo });
    const splits = splitsBetween(prices, [name], { after, upTo });
    for (const { cash, itself } of shareEvents({ dividends, splits, exchanges: [] })) {
      left = (left - BigInt(cash) * perNew) * itself[1];
      perNew *= itself[0];
    }
    after = upTo;
  }
  const cents = dividedHalfUp(left, UNITS_PER_CENT * MILLIONTHS_PER_UNIT * perNew);
  return cents > 0n ? cents : null;
}

/** Why an order cannot fill at the open of a date: no one takes the other side; null where it can. */
export function limitReason(
  market: Market,
  rules: MarketRules,
  { side, symbol }: { side: Side; symbol: string },
): string | null {
  const { price_limit: limit } = findBoard(rules, symbol);
  const { open } = market.quote(symbol);
  if (limit === null || open === null) return null;
  const reference = referenceCents(market.prices, market.date, symbol);
  if (reference === null) return null;
  const part = BigInt(Math.round((side === 'buy' ? limit : -limit) * Number(MILLION)));
  const bound = dividedHalfUp(reference * (MILLION + part), MILLION) * UNITS_PER_CENT;
  if (side === 'buy') return open >= bound ? 'it opened at its upper limit, no one sells' : null;
  return open <= bound ? 'it opened at its lower limit, no one buys' : null;
}
