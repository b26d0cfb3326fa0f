/**
 * SQL that finds the sessions in which something was held over a date, for the triggers that
 * compare them.
 */

/**
 * The sessions in which `symbol` was held over a date: they started from a day before it. Of ten
 * years of sessions, those of one date are few: the search goes from morning to morning (one
 * `held_since` after another) and reads of each only the sessions from `date` on. No morning from
 * `before` on counts, and nothing is searched unless `condition` holds. `date` may name
 * `morning.held_since`.
 */
export function heldOver(
  symbol: string,
  { date, before, condition }: { date: string; before: string; condition: string },
): string {
  const next = `SELECT min(held_since) FROM session_prices
        WHERE symbol = ${symbol} AND held_since < ${before}`;
  return `WITH RECURSIVE morning (held_since) AS (
      ${next} AND ${condition}
      UNION ALL SELECT (${next} AND held_since > morning.held_since)
      FROM morning WHERE morning.held_since IS NOT NULL)
    SELECT own.session_id FROM morning CROSS JOIN session_prices AS own
      ON own.symbol = ${symbol} AND own.held_since = morning.held_since AND own.date >= ${date}`;
}
