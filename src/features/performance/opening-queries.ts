import type { Reader } from '#database/database.ts';
import { amount, integer, query, type RowOf, text } from '#database/rows.ts';
import { pickIds } from '#database/session-filters.ts';

/**
 * Openings: the closes of days of other jobs from which the chains of a file with one job continue.
 */
const LOTS = query(
  `SELECT session_id AS sessionId, symbol, bought_on AS date, quantity, cost_e4 AS cost
   FROM json_each(?) AS chosen CROSS JOIN opening_lots ON session_id = chosen.value ORDER BY session_id, symbol, lot`,
  { sessionId: integer, symbol: text, date: text, quantity: integer, cost: amount },
);

/** Shares that were held at an opening and had been bought together, with their cost. */
export type OpeningLot = RowOf<typeof LOTS>;

/** The lots of those of some sessions that are openings, by session and symbol, oldest first. */
export function openingLots(
  reader: Reader,
  sessions: readonly { sessionId: number }[],
): OpeningLot[] {
  return LOTS.all(reader, pickIds(sessions));
}
