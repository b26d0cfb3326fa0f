import type { StoredDividend } from '../database/splits-and-dividends.ts';
import { type Money, money, TooLarge } from '../money.ts';
import { type Portfolio, quantityOf } from './portfolio.ts';

/** 1/1,000,000 dollar in one unit of `Money`. */
const MILLIONTHS_PER_UNIT = 100n;

/**
 * The cash of a dividend as its source tells it, and the splits that convert it to the shares of
 * its series.
 */
export type DividendTerms = Pick<StoredDividend, 'cash' | 'basis' | 'splits'>;

/**
 * What a dividend pays per share of its series, in 1/1,000,000 dollar, rounded half to even: an
 * amount as paid is divided by the splits since its ex-date where prices are too, and a
 * split-adjusted amount multiplied by them where prices are raw. Throws a `TooLarge` for an amount
 * that no number holds exactly.
 */
export function cashPerShare(terms: DividendTerms): number {
  const perShare = cashPerShareAbout(terms);
  if (!Number.isSafeInteger(perShare))
    throw new TooLarge(
      `Cash per share of ${perShare / 1_000_000} dollars exceeds what is counted exactly`,
    );
  return perShare;
}

/** The same for reports, rounded as numbers are where it is too large to be exact. */
export function cashPerShareAbout({ cash, basis, splits }: DividendTerms): number {
  let [newShares, oldShares] = [1n, 1n];
  for (const [, numerator, denominator] of splits.matchAll(/(\d+):(\d+)/g)) {
    newShares *= BigInt(String(numerator));
    oldShares *= BigInt(String(denominator));
  }
  const [times, by] = basis === 'split_adjusted' ? [newShares, oldShares] : [oldShares, newShares];
  return Number(divideHalfEven(BigInt(cash) * times, by));
}

/**
 * What a dividend pays on whole shares, rounded half to even; `perShare` is in 1/1,000,000 dollar.
 */
export function dividendOn(shares: number, perShare: number): Money {
  return money(Number(divideHalfEven(BigInt(shares) * BigInt(perShare), MILLIONTHS_PER_UNIT)));
}

/** Pays a dividend on a holding; `perShare` is in 1/1,000,000 dollar. */
export function payDividend(
  portfolio: Portfolio,
  { symbol, perShare }: { symbol: string; perShare: number },
): { portfolio: Portfolio; shares: number; cash: Money } {
  const shares = quantityOf(portfolio, symbol);
  const cash = dividendOn(shares, perShare);
  return { portfolio: { ...portfolio, cash: money(portfolio.cash + cash) }, shares, cash };
}

/** Divides integers of which none is negative. */
function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = 2n * (dividend % divisor);
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
