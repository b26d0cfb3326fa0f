import type { CalendarDate } from '../../calendar.ts';
import type { Money } from '../../money.ts';
import type { Database } from '../database.ts';
import { amount, integer, orNull, query, text } from '../rows.ts';

/** Sessions that one statement reads; each may hold a hundred symbols. */
export const CLOSINGS_PER_STEP = 10;

/** What was held of one symbol at a close. */
export interface ClosingHolding {
  symbol: string;
  quantity: number;
  /** The price with which the ledger valued a share; null when that is unknown. */
  price: Money | null;
}

/** A committed session's portfolio at the close, as the ledger values it. */
export interface Closing {
  sessionId: number;
  date: CalendarDate;
  cash: Money;
  value: Money;
  /** By symbol. */
  holdings: ClosingHolding[];
}

const CLOSINGS = query(
  `SELECT own.session_id, own.date, last.cash_e4, last.portfolio_value_e4, held.symbol, held.quantity, used.close_e4
   FROM json_each(?) AS chosen
     CROSS JOIN trading_sessions AS own ON own.session_id = chosen.value
     CROSS JOIN positions AS last ON last.position_id = (
       SELECT position_id FROM positions WHERE positions.session_id = own.session_id ORDER BY action_id DESC LIMIT 1)
     LEFT JOIN holdings AS held ON held.position_id = last.position_id
     LEFT JOIN session_prices AS used ON used.session_id = own.session_id AND used.symbol = held.symbol
   ORDER BY chosen.key, held.symbol`,
  [integer, text, amount, amount, orNull(text), orNull(integer), orNull(amount)],
);

/** The closings of some committed sessions, in their order; of at most `CLOSINGS_PER_STEP`. */
export function closingsOf(database: Database, sessionIds: readonly number[]): Closing[] {
  const closings: Closing[] = [];
  for (const [sessionId, date, cash, value, symbol, quantity, price] of CLOSINGS.all(
    database,
    JSON.stringify(sessionIds),
  )) {
    let closing = closings.at(-1);
    if (closing?.sessionId !== sessionId)
      closings.push((closing = { sessionId, date, cash, value, holdings: [] }));
    if (symbol !== null && quantity !== null) closing.holdings.push({ symbol, quantity, price });
  }
  return closings;
}
