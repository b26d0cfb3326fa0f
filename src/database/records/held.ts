import type { CalendarDate } from '../../calendar.ts';
import { sourcesWithDividendsInSql } from '../adjusted-sources.ts';
import type { Database, Reader } from '../database.ts';
import { type RowOf, flag, integer, query, text } from '../rows.ts';

/** A symbol that committed sessions held in their mornings. */
export interface HeldSymbol {
  symbol: string;
  /** The earliest date since whose close one of them held it. */
  since: CalendarDate;
  /** Of the latest session that held or traded it. */
  lastDate: CalendarDate;
}

/** Two look-ups per symbol, however many sessions held it. */
const NEXT_SYMBOL = query(
  `SELECT symbol, coalesce(held_since, '') AS since,
     (SELECT coalesce(max(date), '') FROM session_prices AS later WHERE later.symbol = first.symbol) AS lastDate
   FROM session_prices AS first INDEXED BY session_prices_by_holding
   WHERE symbol > ? AND held_since IS NOT NULL ORDER BY symbol, held_since LIMIT 1`,
  { symbol: text, since: text, lastDate: text },
);

/** Every symbol that a committed session held in its morning, by name. */
export function* heldSymbols(database: Database): Generator<HeldSymbol> {
  for (
    let held = NEXT_SYMBOL.get(database, '');
    held !== undefined;
    held = NEXT_SYMBOL.get(database, held.symbol)
  )
    yield held;
}

/**
 * The plus sign keeps a session's rows together: a look-up for each of its symbols would take
 * longer than reading them all.
 */
const HELD = query(
  `SELECT session_id AS sessionId, symbol, coalesce(held_since, '') AS since, used.date FROM json_each(?1) AS chosen
     CROSS JOIN session_prices AS used ON used.session_id = chosen.value
   WHERE held_since IS NOT NULL AND +used.symbol IN (SELECT value FROM json_each(?2)) AND NOT EXISTS (
     SELECT 1 FROM dividend_coverage AS span
     WHERE span.symbol = used.symbol AND start_date <= date(held_since, '+1 day') AND end_date >= used.date)`,
  [integer, text, text, text],
);

/**
 * Which of these symbols some committed sessions held in their mornings while no single span
 * covered its dividends: session, symbol, the date since whose close it was held, and the
 * session's.
 */
export function heldUncovered(
  database: Database,
  sessionIds: readonly number[],
  symbols: Iterable<string>,
): RowOf<typeof HELD>[] {
  return HELD.all(database, JSON.stringify(sessionIds), JSON.stringify([...symbols]));
}

const PAYS_NOTHING = query(
  `SELECT EXISTS (SELECT 1 FROM price_data WHERE symbol = ? AND source IN (${sourcesWithDividendsInSql}))`,
  [flag],
);

/**
 * Whether nothing is ever paid on a symbol, because its prices contain its dividends or are made
 * up.
 */
export function paysNothing(reader: Reader, symbol: string): boolean {
  return PAYS_NOTHING.one(reader, symbol)[0] === 1;
}

const EX_DATES = query('SELECT ex_date FROM dividends WHERE symbol = ?', [text]);

/** The dates of all dividends of a symbol that are stored. */
export function exDatesOf(database: Database, symbol: string): Set<CalendarDate> {
  return new Set(EX_DATES.all(database, symbol).flat());
}
