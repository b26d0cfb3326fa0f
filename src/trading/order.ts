import { WORDING } from '../agent/wording.ts';
import { money, toDollars } from '../money.ts';
import { buy, quantityOf, sell } from './portfolio.ts';
import { NO_COSTS, commissionOn, fillPrice } from './trading-costs.ts';
import type { Reply, TradingDay } from './trading-day.ts';

/** Executes a model's order at today's open, or refuses it. Does not change the day. */
export function execute(
  { universe, market, portfolio: before, costs = NO_COSTS, wording = WORDING }: TradingDay,
  actionType: 'buy' | 'sell',
  { symbol, amount }: { symbol: string; amount: number },
): Reply {
  if (actionType === 'buy' && !universe.has(symbol))
    return { refusal: `Cannot buy ${symbol}: it is not among the symbols that can be traded.` };
  if (actionType === 'sell' && quantityOf(before, symbol) === 0)
    return { refusal: `Cannot sell ${symbol}: none is held.` };
  const { open } = market.quote(symbol);
  if (open === null)
    return { refusal: `Cannot ${actionType} ${symbol}: it has no price on ${market.date}.` };
  const price = fillPrice(open, actionType, costs);
  const fill = actionType === 'buy' ? buy : sell;
  const { portfolio, refusal } = fill(before, { symbol, amount, price, costs, wording });
  if (refusal !== undefined) return { refusal };
  const commission = commissionOn(money(amount * price), costs);
  return {
    action: { actionType, symbol, amount, price, portfolio },
    result: {
      executed: actionType,
      symbol,
      amount,
      price: toDollars(price),
      ...(commission > 0 && { commission: toDollars(commission) }),
      cash: toDollars(portfolio.cash),
      holding: quantityOf(portfolio, symbol),
    },
  };
}
