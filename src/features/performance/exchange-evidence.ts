import { readEvidence } from '#database/evidence.ts';
import type { Reader } from '#database/database.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { splitFactors } from '#trading/market.ts';
import { groupExchanges, type HoldingExchange, sharesPerOld } from '#trading/morning.ts';
import type { ActionType } from '#domain/vocabulary.ts';
import type { Money } from '#money/money.ts';

/** One action with the cash after it. */
export interface LedgerAction {
  actionType: ActionType;
  symbol: string | null;
  amount: number | null;
  price: Money | null;
  cash: Money;
  /**
   * Of an exchange, and of what was received: the value of a share at the open of that morning, as
   * shares counted on the date.
   */
  open?: number;
  /** Of what was received: new shares for an old one. */
  ratio?: number;
}

/**
 * Adds to the exchanges of a model-day what its evidence says of them. The exchanges of a symbol are
 * in the order of their dates. Without a price, a new share counts as in the ledger.
 */
export function explainExchanges(
  reader: Reader,
  { sessionId, actions }: { sessionId: number; actions: readonly LedgerAction[] },
): void {
  if (actions.every(({ actionType }) => actionType !== 'exchange')) return;
  const { prices, splits, exchanges } = readEvidence(reader, sessionId);
  const openOf = (name: string | null, date: CalendarDate) => {
    const open = prices.find(({ symbol }) => symbol === name)?.open;
    const own = splits.filter(({ symbol }) => symbol === name);
    const [newShares, oldShares] = splitFactors(own, date);
    return open && (open * Number(newShares)) / Number(oldShares);
  };
  const waiting = groupExchanges(exchanges);
  let exchange: HoldingExchange | undefined;
  let left = 0;
  for (const action of actions) {
    const { actionType, symbol, amount, price } = action;
    if (actionType === 'exchange') {
      const next = waiting.findIndex((own) => own.symbol === symbol);
      [exchange] = waiting.splice(next, 1);
      action.open = openOf(symbol, exchange?.date ?? '') ?? 0;
      left = amount === 0 ? 0 : Math.max(0, action.open - (price ?? 0));
    }
    const row = exchange?.rows.find(({ into }) => into === symbol);
    if (actionType !== 'received' || row === undefined) continue;
    action.ratio = sharesPerOld(row);
    action.open = openOf(symbol, row.date) ?? left / action.ratio;
  }
}
