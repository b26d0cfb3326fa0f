import type { LedgerRecord } from '../database/audit.ts';
import type { Money } from '../money.ts';
import { type Portfolio, buy, sell } from '../trading/portfolio.ts';
import { type TradingCosts, fillPrice } from '../trading/trading-costs.ts';
import { type PricesAsOf, mapped } from './as-of.ts';
import type { Note } from './notes.ts';
import { type Act, afterRecord, atAction, priceOf, refuse } from './outcome.ts';
import { replaySplits } from './splits.ts';

/**
 * Does a day's actions again, one after another, with the prices as they stood. Returns for each record the portfolio
 * that its action makes of the one before; where an action and its record part ways this is noted once, and what follows
 * may go on from either: the portfolio as it should be, then the record's own. So one wrong figure is one sentence.
 */
export function replay(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { prices, costs, note }: { prices: PricesAsOf; costs: TradingCosts; note: Note },
): Portfolio[][] {
  const firstTrade = records.findIndex(({ actionType }) => actionType !== 'split');
  const splitCount = firstTrade === -1 ? records.length : firstTrade;
  const afterSplits = replaySplits(records.slice(0, splitCount), starts, { prices, note });
  let before: readonly Portfolio[] = afterSplits.at(-1) ?? starts;
  const afterTrades = records.slice(splitCount).map((record) => {
    const noteHere = atAction(record, note);
    const portfolios = afterRecord(record, before.map(actOf(record, { prices, costs, note: noteHere })), noteHere);
    before = portfolios;
    return portfolios;
  });
  checkOrder(records, note);
  return [...afterSplits, ...afterTrades];
}

function actOf(
  record: LedgerRecord,
  { prices, costs, note }: { prices: PricesAsOf; costs: TradingCosts; note: Note },
): Act {
  const { actionType, symbol, amount } = record;
  if (actionType === 'split') return refuse('a split is recorded after the trades of the day');
  if (actionType === 'no_trade' || symbol === null || amount === null) return (portfolio) => portfolio; // as a constraint has it
  const fill = (open: Money | null) => (open === null ? null : fillPrice(open, actionType, costs));
  const price = priceOf(record, { asOf: mapped(prices.open(symbol), fill), note });
  if (price === null) return refuse('it has no price');
  const trade = actionType === 'buy' ? buy : sell;
  return (before) => {
    const { portfolio, refusal } = trade(before, { symbol, amount, price, costs });
    return portfolio ?? { sentence: String(refusal), isComplete: true };
  };
}

/** `action_id` counts from 1. A day without a trade has one `no_trade` record at its end, a day with one has none. */
function checkOrder(records: readonly LedgerRecord[], note: Note): void {
  const missing = records.findIndex(({ actionId }, index) => actionId !== index + 1);
  if (missing !== -1) note(`action ${missing + 1} is missing`);
  const count = records.filter(({ actionType }) => actionType === 'no_trade').length;
  const hasTraded = records.some(({ actionType }) => actionType === 'buy' || actionType === 'sell');
  if (records.length === 0) note('it has no record');
  else if (hasTraded && count > 0) note('it has a no_trade record beside its trades');
  else if (!hasTraded && count !== 1) note(`it has no trade and ${count} no_trade records`);
}
