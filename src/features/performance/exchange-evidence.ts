import { readEvidence } from '#database/evidence.ts';
import type { Reader } from '#database/database.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { splitRatio } from '#trading/market.ts';
import { exchangeRatio } from '#trading/morning.ts';
import type { LedgerDay } from './queries.ts';

/** Of an exchange, and of what was received. */
export interface ExchangeTerms {
  /** The value of a share at the open of that morning, as shares counted on the date. */
  open: number;
  /** New shares for an old one, of what was received. */
  ratio: number;
}

/**
 * Adds to the exchanges of a model-day what its evidence says of them. The exchanges of a symbol are
 * in the order of their dates. Without a price, a new share counts as in the ledger.
 */
export function explainExchanges(
  reader: Reader,
  { sessionId, actions }: Pick<LedgerDay, 'sessionId' | 'actions'>,
): void {
  if (actions.every(({ actionType }) => actionType !== 'exchange')) return;
  const { prices, splits, exchanges } = readEvidence(reader, sessionId);
  const openOf = (name: string | null, date: CalendarDate) => {
    const open = prices.find(({ symbol }) => symbol === name)?.open;
    const own = splits.filter(({ symbol }) => symbol === name);
    return open ? open.price * splitRatio(own, date) : null;
  };
  const dates = new Map(
    [...Map.groupBy(exchanges, ({ symbol }) => symbol)].map(([symbol, rows]) => [
      symbol,
      [...new Set(rows.map(({ date }) => date))],
    ]),
  );
  let [old, date] = [actions[0], ''];
  for (const action of actions) {
    if (action.actionType === 'exchange') {
      date = dates.get(action.symbol ?? '')?.shift() ?? '';
      [old, action.open] = [action, openOf(action.symbol, date) ?? 0];
    } else if (action.actionType === 'received') {
      const row = exchanges.find(
        (one) => one.symbol === old?.symbol && one.date === date && one.into === action.symbol,
      );
      if (row === undefined) continue;
      const [newShares, oldShares] = exchangeRatio(row).map(Number);
      action.ratio = (newShares ?? 0) / (oldShares ?? 1);
      const left = old?.amount === 0 ? 0 : Math.max(0, (old?.open ?? 0) - (old?.price ?? 0));
      action.open = openOf(action.symbol, date) ?? left / action.ratio;
    }
  }
}
