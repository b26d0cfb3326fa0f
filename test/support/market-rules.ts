import {
  type MarketRules,
  type TradingCosts,
  US_RULES,
} from '../../src/core/domain/market-rules.ts';

/** The rules of the American exchanges, with some costs. */
export function withCosts(costs: Partial<TradingCosts> = {}): MarketRules {
  return { ...US_RULES, costs: { ...US_RULES.costs, ...costs } };
}
