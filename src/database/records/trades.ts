import { actionTypes } from '../../domain.ts';
import type { Database } from '../database.ts';
import { type RowOf, amount, integer, oneOf, orNull, query, text } from '../rows.ts';
import { PORTION, portionsOf } from './results.ts';

/** The cash before a day's first action is the cash at the close it started from, or the initial cash. */
const ACTIONS = query(
  `SELECT model, date, action_type AS side, symbol, amount, price_e4 AS price, cash_e4 AS cash,
     coalesce(
       (SELECT cash_e4 FROM positions AS before
         WHERE before.session_id = positions.session_id AND before.action_id = positions.action_id - 1),
       (SELECT cash_e4 FROM positions AS past
         WHERE past.session_id = trading_sessions.started_from_session_id ORDER BY action_id DESC LIMIT 1),
       initial_cash_e4, 0) AS cashBefore ${PORTION}`,
  {
    model: text,
    date: text,
    side: oneOf(actionTypes),
    symbol: orNull(text),
    amount: orNull(integer),
    price: orNull(amount),
    cash: amount,
    cashBefore: amount,
  },
);

type Action = RowOf<typeof ACTIONS>;

/** An executed order or a dividend: the schema requires a symbol, a number of shares and a price. */
export type Trade = { [Field in keyof Action]: NonNullable<Action[Field]> } & { side: 'buy' | 'sell' | 'dividend' };

function isTrade(action: Action): action is Trade {
  return action.side === 'buy' || action.side === 'sell' || action.side === 'dividend';
}

/** The executed orders and the dividends of some committed sessions, by action. Null between steps. */
export function* tradesOf(database: Database, sessions: readonly { sessionId: number }[]): Generator<Trade | null> {
  for (const portion of portionsOf(database, sessions)) {
    yield* ACTIONS.all(database, ...portion.values).filter(isTrade);
    yield null;
  }
}
