import { amount, integer, reads, type RowOf, text } from '#database/rows.ts';
import { pickIds } from '#database/session-filters.ts';

/**
 * The lots of those of some sessions that are openings, by session and symbol, oldest first. An
 * opening is the close of a day of another job from which a chain of a file with one job continues.
 */
export const openingLots = reads(
  'all',
  `SELECT session_id AS sessionId, symbol, bought_on AS date, quantity, cost_e4 AS cost
   FROM json_each(?) AS chosen CROSS JOIN opening_lots ON session_id = chosen.value ORDER BY session_id, symbol, lot`,
  { sessionId: integer, symbol: text, date: text, quantity: integer, cost: amount },
  (sessions: readonly { sessionId: number }[]) => [pickIds(sessions)],
);

/** Shares that were held at an opening and had been bought together, with their cost. */
export type OpeningLot = RowOf<typeof openingLots>;
