/**
 * Exact money. Inside the service every amount of dollars is an integer count of 1/10000 dollar, so
 * that sums and differences are never rounded; dollars as numbers with at most four decimals exist
 * only at the edges (HTTP, prices, prompt).
 */
declare const unit: unique symbol;

/** An integer count of 1/10000 dollar (suffix `_e4` in the database). */
export type Money = number & { readonly [unit]: '1/10000 dollar' };

export const UNITS_PER_DOLLAR = 10_000;

/**
 * Thrown where prices, splits or dividends lead to more than integers count exactly. Its message is
 * meant for the caller.
 */
export class TooLarge extends RangeError {}

/**
 * Brands an integer count of 1/10000 dollar. Throws a `TooLarge` beyond 900 billion dollars; `what`
 * is the amount, in words.
 */
export function money(
  units: number,
  what = (dollars: string) => `An amount of ${dollars} dollars`,
): Money {
  if (Number.isSafeInteger(units)) return units as Money;
  if (!Number.isInteger(units))
    throw new RangeError(`Cannot hold an amount of money exactly: ${units} / 10000 dollars`);
  const most = formatDollars(Number.MAX_SAFE_INTEGER as Money);
  throw new TooLarge(
    `${what(formatDollars(units as Money))} exceeds ${most} dollars, the most that is counted exactly`,
  );
}

/**
 * An amount in a report, such as a sum over many days, which is never refused: a larger one is
 * rounded as numbers are.
 */
export function asMoney(units: number): Money {
  if (!Number.isInteger(units))
    throw new RangeError(`Cannot report an amount of money: ${units} / 10000 dollars`);
  return units as Money;
}

/** Dollars, rounded to the nearest 1/10000. */
export function fromDollars(dollars: number): Money {
  return money(toUnits(dollars));
}

/** The same without a bound, to compare and to show. */
function toUnits(dollars: number): number {
  return Math.round(dollars * UNITS_PER_DOLLAR);
}

/** Dollars as a number with at most four decimals. */
export function toDollars(amount: Money): number {
  return amount / UNITS_PER_DOLLAR;
}

/** The least price of a share, one unit: orders divide by prices. */
export const LEAST_PRICE = 1 as Money;

/**
 * The price of a share: one that is smaller than the least, such as an old price divided by later
 * splits, is the least.
 */
export function toPrice(dollars: number): Money {
  return money(priceUnits(dollars));
}

/** The same without a bound above, to compare and to show. */
export function priceUnits(dollars: number): number {
  return Math.max(LEAST_PRICE, toUnits(dollars));
}

let sentenceFormat: Intl.NumberFormat | undefined;

/** For sentences that people read: at least cents, with thousands separators. */
export function formatDollars(amount: Money): string {
  // Created at its first use: it takes a third of the service's whole start-up time.
  sentenceFormat ??= new Intl.NumberFormat('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
  });
  return sentenceFormat.format(toDollars(amount));
}

const DECIMAL = /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;
const MAX_DECIMAL_LENGTH = 100;
const MICRO_DOLLARS = 1_000_000n;

/** Decimal text as an exact fraction; null for text that is not a decimal number from 0. */
export function parseFraction(text: string): { over: bigint; under: bigint } | null {
  const [, whole = '', decimals = '', exponent = '0'] =
    DECIMAL.exec(text.slice(0, MAX_DECIMAL_LENGTH + 1)) ?? [];
  if (whole + decimals === '' || text.length > MAX_DECIMAL_LENGTH) return null;
  const digits = BigInt(whole + decimals);
  const places = decimals.length - Number(exponent);
  return places >= 0
    ? { over: digits, under: 10n ** BigInt(places) }
    : { over: digits * 10n ** BigInt(-places), under: 1n };
}

/**
 * Dollars as decimal text, exactly, in 1/1,000,000 dollar; a finer amount is rounded half to even.
 * Null for text that is not such a number, is negative or is too large to be held exactly.
 */
export function microDollars(text: string): number | null {
  const dollars = parseFraction(text);
  if (dollars === null) return null;
  const units = dividedHalfEven(dollars.over * MICRO_DOLLARS, dollars.under);
  return units <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(units) : null;
}

/** Divides integers; a half is rounded up. The divisor is above 0. */
export function dividedHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/** Divides integers of which none is negative; a half is rounded to even. */
export function dividedHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twiceRest = (dividend % divisor) * 2n;
  return twiceRest > divisor || (twiceRest === divisor && quotient % 2n === 1n)
    ? quotient + 1n
    : quotient;
}
