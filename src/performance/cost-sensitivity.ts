import { bisect } from '../statistics/moments.ts';
import { type Figure, reportFigures, rounded } from './figure.ts';
import { linked } from './risk-and-return.ts';

/** What would be left if trading had cost more. */

/** A day with what was bought and sold on it, and the benchmark's return; amounts in one unit. */
export interface CostDay {
  /** 0 where the day has no return. */
  startValue: number;
  profit: number;
  /** Shares times price, of all orders. */
  traded: number;
  /** Null where unknown. */
  benchmark: number | null;
}

/** Added to the cost of every order, in basis points of its value. */
const ADDED_BPS = [0, 5, 10, 25, 50];
const BASIS_POINTS = 10_000;

/** Each day's profit less the added cost of its orders, over its starting value; linked. */
function totalAt(days: readonly CostDay[], bps: number): number {
  return linked(
    days.map(({ startValue, profit, traded }) =>
      startValue === 0 ? 0 : (profit - (traded * bps) / BASIS_POINTS) / startValue,
    ),
  );
}

const BEHIND = { reason: 'It is already behind the benchmark' };
const NO_ORDERS = { reason: 'It did not trade on the days it shares with the benchmark' };
const NO_DAYS = { reason: 'There is no day on which both have a return' };
const NEVER = { reason: 'No trading cost would take its lead away' };

/**
 * The added cost at which the excess return over the benchmark is zero, on the days on which both
 * have a return: the break-even transaction cost (Grundy & Martin, Understanding the Nature of the
 * Risks and the Source of the Rewards to Momentum Investing, Review of Financial Studies, 2001).
 */
function breakEven(all: readonly CostDay[]): Figure {
  const days = all.filter(({ startValue, benchmark }) => startValue !== 0 && benchmark !== null);
  if (days.length === 0) return NO_DAYS;
  const goal = linked(days.map(({ benchmark }) => benchmark ?? NaN));
  const isBehind = (bps: number) => totalAt(days, bps) < goal;
  if (isBehind(0)) return BEHIND;
  const ordered = days.filter(({ traded }) => traded > 0);
  if (ordered.length === 0) return NO_ORDERS;
  // At the upper end one day loses all that it started from.
  const high = Math.min(
    ...ordered.map(
      ({ startValue, profit, traded }) => ((startValue + profit) / traded) * BASIS_POINTS,
    ),
  );
  return isBehind(high) ? bisect(0, high, (bps) => !isBehind(bps)) : NEVER;
}

/** Named as in the response. */
export function reportCosts(days: readonly CostDay[]) {
  return {
    cost_sensitivity: ADDED_BPS.map((bps) => ({
      basis_points: bps,
      total_return: rounded(totalAt(days, bps)),
    })),
    ...reportFigures({ break_even_bps: breakEven(days) }),
  };
}
