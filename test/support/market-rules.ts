import { type MarketRules, type TradingCosts, US } from '../../src/core/domain/market-rules.ts';

export const NO_COSTS: TradingCosts = {
  ...{ commissionPerTrade: 0, commissionBps: 0, minCommission: 0 },
  ...{ sellTaxBps: 0, slippageBps: 0 },
};

/** The rules of the American exchanges. */
export const US_RULES: MarketRules = { ...US, costs: NO_COSTS };

/** The same, with some costs. */
export function withCosts(costs: Partial<TradingCosts> = {}): MarketRules {
  return { ...US_RULES, costs: { ...NO_COSTS, ...costs } };
}
