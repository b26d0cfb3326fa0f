import type { CalendarDate } from '#time/calendar.ts';
import type { Money } from '#money/money.ts';
import type { Reader } from '#database/database.ts';
import { amount, integer, orNull, query, reads, type RowOf, text } from '#database/rows.ts';
import { pickIds } from '#database/session-filters.ts';

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
     LEFT JOIN holdings AS held ON held.session_id = own.session_id
     LEFT JOIN session_prices AS used ON used.session_id = own.session_id AND used.symbol = held.symbol
   ORDER BY chosen.key, held.symbol`,
  [integer, text, amount, amount, orNull(text), orNull(integer), orNull(amount)],
);

/** The closings of some committed sessions, in their order. */
export function* readClosings(reader: Reader, sessionIds: readonly number[]): Generator<Closing> {
  let closing: Closing | undefined;
  const rows = CLOSINGS.iterate(reader, sessionIds);
  for (const [sessionId, date, cash, value, symbol, quantity, price] of rows) {
    if (closing?.sessionId !== sessionId) {
      if (closing !== undefined) yield closing;
      closing = { sessionId, date, cash, value, holdings: [] };
    }
    if (symbol !== null && quantity !== null) closing.holdings.push({ symbol, quantity, price });
  }
  if (closing !== undefined) yield closing;
}

/**
 * Which of these symbols some committed sessions held in their mornings while no single span
 * covered its dividends: session, symbol, the date since whose close it was held, and the
 * session's.
 *
 * The plus sign keeps a session's rows together: a look-up for each of its symbols would take
 * longer than reading them all.
 */
export const uncoveredHoldings = reads(
  'iterate',
  `SELECT session_id AS sessionId, symbol, coalesce(held_since, '') AS since, used.date FROM json_each(?1) AS chosen
     CROSS JOIN session_prices AS used ON used.session_id = chosen.value
   WHERE held_since IS NOT NULL AND +used.symbol IN (SELECT value FROM json_each(?2)) AND NOT EXISTS (
     SELECT 1 FROM dividend_coverage AS span
     WHERE span.symbol = used.symbol AND start_date <= date(held_since, '+1 day') AND end_date >= used.date)`,
  [integer, text, text, text],
  (sessions: readonly { sessionId: number }[], symbols: Iterable<string>) => [
    pickIds(sessions),
    [...symbols],
  ],
);

/**
 * The lots of those of some sessions that are openings, by session and symbol, oldest first. An
 * opening is the close of a day of another job from which a chain of a file with one job continues.
 */
export const openingLots = reads(
  'all',
  `SELECT {}, bought_on AS date
   FROM json_each(?) AS chosen CROSS JOIN opening_lots ON session_id = chosen.value ORDER BY session_id, symbol, lot`,
  { sessionId: integer, symbol: text, quantity: integer, cost: amount, date: text },
  (sessions: readonly { sessionId: number }[]) => [pickIds(sessions)],
);

/** Shares that were held at an opening and had been bought together, with their cost. */
export type OpeningLot = RowOf<typeof openingLots>;
