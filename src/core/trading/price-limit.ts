import type { CalendarDate } from '#time/calendar.ts';
import { findBoard, type MarketRules } from '#domain/market-rules.ts';
import type { Side } from '#database/decisions.ts';
import { formerNames } from '#database/exchanges.ts';
import { barOn, quotesOn, splitsBetween } from '#database/market-queries.ts';
import type { PricesAt } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { type Money, money, priceUnits } from '#money/money.ts';
import type { Market } from './market.ts';
import { approximateCashPerShare } from './morning.ts';

/** Within which prices a share may trade on a date, where its market has a limit. */

/** A cent in 1/1,000,000, in which cash per share is counted; and in units of money. */
const [CENT, UNITS_PER_CENT] = [10_000n, 100n];
/** Shares of a price have at most so many decimals. */
const PARTS = 1_000_000n;

/**
 * The price from which a limit counts: the close before, less the dividends of the morning, then in
 * shares after its splits, rounded to a cent. Null without a close, and on a series that is adjusted
 * for splits, whose prices never were those of the exchange. A symbol that has only its name from an
 * exchange has the close of the old one.
 */
function referencePrice(
  prices: PricesAt,
  date: CalendarDate,
  symbol: string,
  isRenamed = false,
): Money | null {
  const [{ previousDate, previousClose } = { previousDate: null, previousClose: null }] = quotesOn(
    prices,
    date,
    [symbol],
  );
  if (previousDate === null || previousClose === null) {
    const [old] = isRenamed ? [] : formerNames(prices.reader, symbol, date, prices.write);
    return old === undefined ? null : referencePrice(prices, date, old, true);
  }
  if (barOn(prices, date, { symbol, date: previousDate })?.adjusted !== 0) return null;
  const since = { after: previousDate, upTo: date };
  let left = BigInt(priceUnits(previousClose)) * UNITS_PER_CENT;
  for (const dividend of dividendsBetween(prices, [symbol], since))
    left -= BigInt(approximateCashPerShare(dividend));
  let under = 1n;
  for (const { numerator, denominator } of splitsBetween(prices, [symbol], since)) {
    left *= BigInt(denominator);
    under *= BigInt(numerator);
  }
  const cents = roundedHalfUp(left, under * CENT);
  return cents > 0n ? money(Number(cents * UNITS_PER_CENT)) : null;
}

/** Divides by a number above 0; a half is rounded up. */
function roundedHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/** The highest or the lowest price of a date, to a cent. */
export function limitPrice(reference: Money, limit: number, side: Side): Money {
  const part = BigInt(Math.round(limit * Number(PARTS)));
  const cents = BigInt(reference) * (side === 'buy' ? PARTS + part : PARTS - part);
  return money(Number(roundedHalfUp(cents, PARTS * UNITS_PER_CENT) * UNITS_PER_CENT));
}

/** Why an order cannot fill at the open of a date: no one takes the other side; null where it can. */
export function limitReason(
  market: Market,
  rules: MarketRules,
  { side, symbol }: { side: Side; symbol: string },
): string | null {
  const { price_limit: limit } = findBoard(rules, symbol);
  const { open } = market.quote(symbol);
  const reference =
    limit === null || open === null ? null : referencePrice(market.prices, market.date, symbol);
  if (limit === null || open === null || reference === null) return null;
  const bound = limitPrice(reference, limit, side);
  if (side === 'buy' && open >= bound) return 'it opened at its upper limit, no one sells';
  return side === 'sell' && open <= bound ? 'it opened at its lower limit, no one buys' : null;
}
