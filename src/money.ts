/**
 * Exact money. Inside the service every amount of dollars is an integer count of 1/10000 dollar, so that sums and differences
 * are never rounded; dollars as numbers with at most four decimals exist only at the edges (HTTP, prices, prompt).
 */
declare const unit: unique symbol;

/** An integer count of 1/10000 dollar (suffix `_e4` in the database). */
export type Money = number & { readonly [unit]: '1/10000 dollar' };

export const UNITS_PER_DOLLAR = 10_000;

/** Brands an integer count of 1/10000 dollar. Throws when it is not an exact integer (beyond 900 billion dollars, say). */
export function money(units: number): Money {
  if (!Number.isSafeInteger(units))
    throw new RangeError(`Cannot hold an amount of money exactly: ${units} / 10000 dollars`);
  return units as Money;
}

/** Dollars, rounded to the nearest 1/10000. */
export function fromDollars(dollars: number): Money {
  return money(Math.round(dollars * UNITS_PER_DOLLAR));
}

/** Dollars as a number with at most four decimals. */
export function toDollars(amount: Money): number {
  return amount / UNITS_PER_DOLLAR;
}

let sentenceFormat: Intl.NumberFormat | undefined;

/** For sentences that people read: at least cents, with thousands separators. */
export function formatDollars(amount: Money): string {
  // Created at its first use: it takes a third of the service's whole start-up time.
  sentenceFormat ??= new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 });
  return sentenceFormat.format(toDollars(amount));
}
