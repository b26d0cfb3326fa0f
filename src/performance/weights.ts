import type { Closing, ClosingHolding } from '../database/records/closings.ts';
import { type Money, reported, toDollars } from '../money.ts';
import { rounded } from './figure.ts';

/**
 * A portfolio at the close, named as in the response. A weight is a share of the portfolio's value,
 * so that the weights of cash and holdings add up to 1; there are none of a portfolio that is worth
 * nothing.
 */
export function reportClosing({ date, cash, value, holdings }: Closing) {
  const weightOf = (part: Money) => (value === 0 ? null : rounded(part / value));
  const valued = holdings.map((holding) => ({ ...holding, value: valueOf(holding) })).sort(byValue);
  return {
    date,
    cash: toDollars(cash),
    value: toDollars(value),
    cash_weight: weightOf(cash),
    holdings: valued.map(({ symbol, quantity, price, value: own }) => ({
      symbol,
      quantity,
      price: price === null ? null : toDollars(price),
      value: own === null ? null : toDollars(own),
      weight: own === null ? null : weightOf(own),
    })),
  };
}

function valueOf({ quantity, price }: ClosingHolding): Money | null {
  return price === null ? null : reported(quantity * price);
}

/** The largest first, equal ones by symbol; those without a known value last. */
function byValue(
  one: { symbol: string; value: Money | null },
  other: { symbol: string; value: Money | null },
): number {
  const difference = (other.value ?? -1) - (one.value ?? -1);
  if (difference !== 0) return difference;
  return one.symbol < other.symbol ? -1 : 1;
}
