import type { PositionRow } from '../database/sessions.ts';
import { type Money, money } from '../money.ts';
import { type Portfolio, valueOf } from './portfolio.ts';
import type { Action } from './tools.ts';

/** What a model-day has come to, and what it is measured against. */
export interface DayLedger {
  readonly actions: readonly Action[];
  readonly portfolio: Portfolio;
  /** The closing value of the day it started from, or the initial cash. */
  readonly startValue: Money;
}

/** The day's ledger as rows: every action, or one `no_trade` record when nothing was bought or sold. */
export function positionsOf(
  { actions, portfolio: last, startValue }: DayLedger,
  closeOf: (symbol: string) => Money,
): PositionRow[] {
  const ledger: (Omit<Action, 'actionType' | 'symbol' | 'amount'> &
    Pick<PositionRow, 'actionType' | 'symbol' | 'amount'>)[] = [...actions];
  if (ledger.every(({ actionType }) => actionType === 'split')) {
    ledger.push({ actionType: 'no_trade', symbol: null, amount: null, price: null, portfolio: last });
  }
  const symbols = new Set(ledger.flatMap(({ portfolio }) => [...portfolio.holdings.keys()]));
  const marks = new Map([...symbols].map((symbol) => [symbol, closeOf(symbol)]));
  return ledger.map(({ portfolio, ...action }, index) => {
    const portfolioValue = valueOf(portfolio, marks);
    const dailyProfit = money(portfolioValue - startValue);
    return {
      ...action,
      actionId: index + 1,
      cash: portfolio.cash,
      holdings: portfolio.holdings,
      portfolioValue,
      dailyProfit,
      dailyReturnPct: startValue === 0 ? null : percent(dailyProfit / startValue),
    };
  });
}

/** In percent with at most four decimals. */
export function percent(ratio: number): number {
  return Math.round(ratio * 1_000_000) / 10_000;
}
