import { type MarketRules, type TradingCosts, US } from '../../src/core/domain/market-rules.ts';

export const NO_COSTS: TradingCosts = {
  ...{ commission_per_trade: 0, commission_bps: 0, min_commission: 0 },
  ...{ sell_tax_bps: 0, slippage_bps: 0 },
};

/** The rules of the American exchanges. */
export const US_RULES: MarketRules = { ...US, costs: NO_COSTS };

/** The same, with some costs. */
export function withCosts(costs: Partial<TradingCosts> = {}): MarketRules {
  return { ...US_RULES, costs: { ...NO_COSTS, ...costs } };
}
