import type { Reader } from '#database/database.ts';
import { actionTypes } from '#domain/vocabulary.ts';
import { query, text, oneOf, orNull, integer, amount, type RowOf } from '#database/rows.ts';
import { pickIds } from '#database/session-filters.ts';

/**
 * The cash before a day's first action is the cash at the close it started from, or the initial
 * cash.
 */
const ACTIONS = query(
  `SELECT action_type AS side, {}, coalesce(
       (SELECT cash_e4 FROM positions AS before
         WHERE before.session_id = positions.session_id AND before.action_id = positions.action_id - 1),
       (SELECT cash_e4 FROM positions AS past
         WHERE past.session_id = trading_sessions.started_from_session_id ORDER BY action_id DESC LIMIT 1),
       initial_cash_e4, 0) AS cashBefore
   FROM json_each(?) AS chosen CROSS JOIN trading_sessions ON session_id = chosen.value
     CROSS JOIN positions USING (session_id)
   WHERE action_type <> 'no_trade' ORDER BY chosen.key, action_id`,
  {
    side: oneOf(actionTypes),
    model: text,
    date: text,
    symbol: orNull(text),
    amount: orNull(integer),
    price: orNull(amount),
    cash: amount,
    cashBefore: amount,
  },
);

type Action = RowOf<typeof ACTIONS>;

/**
 * Whatever changed holdings or cash. The schema requires a symbol, and a price but for splits and
 * what was received; a split's amount is what it added, that of an exchange the shares that left.
 */
export type Change = Action & { symbol: string; amount: number } & (
    | { side: 'buy' | 'sell' | 'dividend' | 'exchange'; price: NonNullable<Action['price']> }
    | { side: 'split' | 'received' }
  );

/** The executed orders, splits, dividends and exchanges of some committed sessions, by action. */
export function readChanges(
  reader: Reader,
  sessions: readonly { sessionId: number }[],
): IterableIterator<Change> {
  return ACTIONS.iterate(reader, pickIds(sessions)) as IterableIterator<Change>;
}
