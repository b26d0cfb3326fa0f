import type { CalendarDate } from '../../calendar.ts';
import { sourcesWithDividendsInSql } from '../adjusted-sources.ts';
import type { Database, Reader } from '../database.ts';
import { type RowOf, flag, integer, query, text } from '../rows.ts';

const HELD = query(
  `SELECT session_id AS sessionId, symbol, coalesce(held_since, '') AS since, used.date FROM json_each(?) AS chosen
     CROSS JOIN session_prices AS used ON used.session_id = chosen.value
   WHERE held_since IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM dividend_coverage AS span
     WHERE span.symbol = used.symbol AND start_date <= date(held_since, '+1 day') AND end_date >= used.date)`,
  [integer, text, text, text],
);

/**
 * What some committed sessions held in their mornings while no single span covered its dividends: session, symbol, the date
 * since whose close it was held, and the session's.
 */
export function heldUncovered(database: Database, sessionIds: readonly number[]): RowOf<typeof HELD>[] {
  return HELD.all(database, JSON.stringify(sessionIds));
}

const PAYS_NOTHING = query(
  `SELECT EXISTS (SELECT 1 FROM price_data WHERE symbol = ? AND source IN (${sourcesWithDividendsInSql}))`,
  [flag],
);

/** Whether nothing is ever paid on a symbol, because its prices contain its dividends or are made up. */
export function paysNothing(reader: Reader, symbol: string): boolean {
  return PAYS_NOTHING.one(reader, symbol)[0] === 1;
}

const EX_DATES = query('SELECT ex_date FROM dividends WHERE symbol = ?', [text]);

/** The dates of all dividends of a symbol that are stored. */
export function exDatesOf(database: Database, symbol: string): Set<CalendarDate> {
  return new Set(EX_DATES.all(database, symbol).flat());
}
