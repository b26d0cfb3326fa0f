import type { Evidence } from '../database/evidence.ts';
import type { PricesAt } from '../database/price-writes.ts';
import type { PositionRow } from '../database/sessions.ts';
import { type Money, money } from '../basics/money.ts';
import { type Market, closingMark } from './market.ts';
import { type Action, markOf, type Portfolio, quantityOf, valueOf } from './portfolio.ts';
import type { Start } from './start.ts';

/** What the commit of a model-day stores: its ledger as rows, and the prices behind them. */

/** The ledger of a model-day, and the value it is measured against. */
interface DayLedger extends Pick<Start, 'startValue'> {
  readonly actions: readonly Action[];
  readonly portfolio: Portfolio;
}

/**
 * The day's ledger as rows: every action, or one `no_trade` record when nothing was bought or sold.
 */
export function positionsOf(
  { actions, portfolio: last, startValue }: DayLedger,
  marks: ReadonlyMap<string, Money>,
): PositionRow[] {
  const noTrade = {
    actionType: 'no_trade',
    symbol: null,
    amount: null,
    price: null,
    portfolio: last,
  } as const;
  const hasTraded = actions.some(({ actionType }) => actionType === 'buy' || actionType === 'sell');
  const ledger = hasTraded ? actions : [...actions, noTrade];
  let before: Portfolio | null = null;
  let held = 0;
  return ledger.map(({ portfolio, ...action }, index) => {
    held =
      before === null
        ? valueOf(portfolio, marks) - portfolio.cash
        : held + changeOf(action.symbol, [before, portfolio], marks);
    before = portfolio;
    const portfolioValue = money(portfolio.cash + held, () => "The portfolio's value");
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

/** An action changes what is held of its own symbol only: a day of a thousand actions is short. */
function changeOf(
  symbol: string | null,
  [before, after]: [before: Portfolio, after: Portfolio],
  marks: ReadonlyMap<string, Money>,
): number {
  if (symbol === null) return 0;
  const added = quantityOf(after, symbol) - quantityOf(before, symbol);
  return added === 0 ? 0 : added * markOf(symbol, marks);
}

/** In percent with at most four decimals. */
export function percent(ratio: number): number {
  return Math.round(ratio * 1_000_000) / 10_000;
}

/** The parts of a session from which its commit is computed. */
interface Inputs
  extends Pick<Start, 'startDate' | 'startPortfolio' | 'knownSplits' | 'knownDividends'> {
  readonly market: Market;
  readonly actions: readonly Action[];
}

/**
 * The evidence of a session: opens as its market read them, closes as they are at its commit.
 */
export function gatherEvidence(atCommit: PricesAt, session: Inputs): Evidence {
  const { market, startDate, startPortfolio, actions } = session;
  const held = new Set(startPortfolio.holdings.keys());
  const prices = [...held.union(new Set(actions.map(({ symbol }) => symbol)))].map((symbol) => ({
    symbol,
    heldSince: held.has(symbol) ? startDate : null,
    open: market.knownMark(symbol),
    close: closingMark(atCommit, market.date, symbol),
  }));
  return { prices, splits: session.knownSplits, dividends: session.knownDividends };
}
