import assert from 'node:assert/strict';
import type { Evidence } from '#database/evidence.ts';
import type { PricesAt } from '#database/price-writes.ts';
import type { LedgerRecord } from '#database/replay-queries.ts';
import { sharesAdded } from '#database/sessions.ts';
import { type Money, money } from '#money/money.ts';
import { type Market, closingMark, failWithoutPrice } from './market.ts';
import { type Action, requireMark, type Portfolio, valuePortfolio } from './portfolio.ts';
import type { DayStart } from './start.ts';

/** What the commit of a model-day stores: its ledger as rows, and the prices behind them. */

/** The ledger of a model-day, and the value it is measured against. */
interface DayLedger extends Pick<DayStart, 'startValue'> {
  readonly actions: readonly Action[];
  readonly portfolio: Portfolio;
}

/**
 * The day's ledger as rows: every action, or one `no_trade` record when nothing was bought or sold.
 * Computed from the end, where it is known what is held, back to the first.
 */
export function buildPositions(
  { actions, portfolio: last, startValue }: DayLedger,
  marks: ReadonlyMap<string, Money>,
): LedgerRecord[] {
  const none = { actionType: 'no_trade', symbol: null, amount: null, price: null } as const;
  const hasTraded = actions.some(({ actionType }) => actionType === 'buy' || actionType === 'sell');
  const ledger = hasTraded ? actions : [...actions, { ...none, cash: last.cash }];
  let held = valuePortfolio(last, marks) - last.cash;
  let holdings: Portfolio['holdings'] | null = last.holdings;
  const rows: LedgerRecord[] = [];
  for (let actionId = ledger.length; actionId > 0; actionId -= 1) {
    const action = ledger[actionId - 1] ?? assert.fail();
    const portfolioValue = money(action.cash + held, () => "The portfolio's value");
    const dailyProfit = money(portfolioValue - startValue);
    const dailyReturnPct = startValue === 0 ? null : percent(dailyProfit / startValue);
    rows.push({ ...action, actionId, holdings, portfolioValue, dailyProfit, dailyReturnPct });
    holdings = null;
    const added = sharesAdded(action);
    if (added !== 0 && actionId > 1) held -= added * requireMark(String(action.symbol), marks);
  }
  return rows.reverse();
}

export function percent(ratio: number): number {
  return Math.round(ratio * 1_000_000) / 10_000;
}

interface EvidenceInputs extends Pick<DayStart, 'heldSince' | 'known'> {
  /** At the end of the day. */
  readonly portfolio: Portfolio;
  readonly market: Market;
  readonly actions: readonly Action[];
}

/**
 * The evidence of a session: opens as its market read them, closes as they are at its commit.
 */
export function gatherEvidence(atCommit: PricesAt, session: EvidenceInputs): Evidence {
  const { market, heldSince, actions, portfolio } = session;
  const { date } = market;
  const symbols = new Set([...heldSince.keys(), ...actions.map(({ symbol }) => symbol)]);
  const prices = [...symbols].map((symbol) => {
    const since = heldSince.get(symbol) ?? null;
    const open = market.knownMark(symbol);
    const close = closingMark(atCommit, date, symbol);
    if (close === null && portfolio.holdings.has(symbol)) failWithoutPrice(symbol, date);
    return {
      symbol,
      heldSince: since === date ? null : since, // what arrives this morning was not held before
      ...{ open: open?.price ?? null, openDate: open?.date ?? null },
      ...{ close: close?.price ?? null, closeDate: close?.date ?? null },
    };
  });
  return { prices, ...session.known };
}
