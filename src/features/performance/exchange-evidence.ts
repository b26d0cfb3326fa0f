import { readEvidence } from '#database/evidence.ts';
import type { Reader } from '#database/database.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { type ShareEvent, shareEvents, sharesPerOld, splitFactors } from '#trading/share-events.ts';
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
  const { prices, ...known } = readEvidence(reader, sessionId);
  const openOf = (name: string | null, date: CalendarDate) => {
    const open = prices.find(({ symbol }) => symbol === name)?.open;
    const own = known.splits.filter(({ symbol }) => symbol === name);
    const [newShares, oldShares] = splitFactors(own, date);
    return open && (open * Number(newShares)) / Number(oldShares);
  };
  const all = shareEvents(known).filter(({ type }) => type === 'exchange');
  const waiting = Map.groupBy(all, ({ symbol }) => symbol);
  let exchange: ShareEvent | undefined;
  let left = 0;
  for (const action of actions) {
    const { actionType, symbol, amount, price } = action;
    if (actionType === 'exchange') {
      exchange = waiting.get(symbol ?? '')?.shift();
      action.open = openOf(symbol, exchange?.date ?? '') ?? 0;
      left = amount === 0 ? 0 : Math.max(0, action.open - (price ?? 0));
    }
    const own = exchange?.received.find((one) => one.symbol === symbol);
    if (actionType !== 'received' || exchange === undefined || own === undefined) continue;
    action.ratio = sharesPerOld(own.ratio);
    action.open = openOf(symbol, exchange.date) ?? left / action.ratio;
  }
}
