import { type Money, fromDollars, money, toDollars } from '../money.ts';

/** What an order costs beside its shares at the open. One basis point is 1/10000. */
export interface TradingCosts {
  commissionPerTrade: Money;
  commissionBps: number;
  /** How much worse than the open an order fills. */
  slippageBps: number;
}

export const NO_COSTS: TradingCosts = {
  commissionPerTrade: money(0),
  commissionBps: 0,
  slippageBps: 0,
};

/** Basis points have at most four decimals. */
const PARTS_PER_BASIS_POINT = 10_000n;
const BASIS_POINTS = 10_000n;

/** The costs in a configuration, in dollars and basis points. */
export function tradingCostsOf(agentConfig: {
  commission_per_trade: number;
  commission_bps: number;
  slippage_bps: number;
}): TradingCosts {
  return {
    commissionPerTrade: fromDollars(agentConfig.commission_per_trade),
    commissionBps: agentConfig.commission_bps,
    slippageBps: agentConfig.slippage_bps,
  };
}

/** For the model, in dollars and basis points; null when there are none. */
export function describeCosts(costs: TradingCosts) {
  const { commissionPerTrade, commissionBps, slippageBps } = costs;
  if (commissionPerTrade === 0 && commissionBps === 0 && slippageBps === 0) return null;
  return { ...costs, commissionPerTrade: toDollars(commissionPerTrade) };
}

/**
 * The price at which an order fills: the open with slippage, rounded to 1/10000 dollar against the
 * trader.
 */
export function fillPrice(open: Money, side: 'buy' | 'sell', { slippageBps }: TradingCosts): Money {
  const slippage = shareRoundedUp(open, slippageBps);
  return money(side === 'buy' ? open + slippage : Math.max(1, open - slippage));
}

/**
 * The commission on an order, rounded up to 1/10000 dollar. `traded` is shares times fill price.
 */
export function commissionOn(
  traded: Money,
  { commissionPerTrade, commissionBps }: TradingCosts,
): Money {
  return money(commissionPerTrade + shareRoundedUp(traded, commissionBps));
}

/** In whole numbers, because floating-point numbers would round. */
function shareRoundedUp(amount: Money, basisPoints: number): number {
  if (basisPoints === 0) return 0;
  const parts = BigInt(amount) * BigInt(Math.round(basisPoints * Number(PARTS_PER_BASIS_POINT)));
  const whole = PARTS_PER_BASIS_POINT * BASIS_POINTS;
  return Number((parts + whole - 1n) / whole);
}
