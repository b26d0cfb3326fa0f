import type { CalendarDate } from '../../basics/calendar.ts';
import type { Money } from '../../basics/money.ts';
import type { Database, Reader } from '../database.ts';
import { amount, flag, integer, orNull, query, type RowOf, text } from '../rows.ts';
import { idsOf } from '../session-filters.ts';
import { type Jump, unexplainedJumps } from '../splits-and-dividends.ts';
import { hasBarsOf, sourcesWithDividendsInSql } from '../schema/price-conditions.ts';

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
export function* closingsOf(reader: Reader, sessionIds: readonly number[]): Generator<Closing> {
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

/** A symbol that committed sessions held in their mornings. */
export type HeldSymbol = RowOf<typeof NEXT_SYMBOL>;

/** Two look-ups per symbol, however many sessions held it. */
const NEXT_SYMBOL = query(
  `SELECT symbol, coalesce(held_since, '') AS since,
     (SELECT coalesce(max(date), '') FROM session_prices AS later WHERE later.symbol = first.symbol) AS lastDate
   FROM session_prices AS first INDEXED BY session_prices_by_holding
   WHERE symbol > ? AND held_since IS NOT NULL ORDER BY symbol, held_since LIMIT 1`,
  {
    symbol: text,
    since: text, // the earliest date since whose close one of them held it
    lastDate: text, // of the latest session that held or traded it
  },
);

/** Every symbol that a committed session held in its morning, by name. */
export function* heldSymbols(database: Reader): Generator<HeldSymbol> {
  for (
    let held = NEXT_SYMBOL.get(database, '');
    held !== undefined;
    held = NEXT_SYMBOL.get(database, held.symbol)
  )
    yield held;
}

/**
 * The closes from which sessions held a symbol, each with the last date up to which one did: two
 * look-ups per close, however many sessions began with it.
 */
const MORNINGS = query(
  `WITH RECURSIVE morning (held_since) AS (
     SELECT min(held_since) FROM session_prices WHERE symbol = ?1 AND held_since IS NOT NULL
     UNION ALL SELECT (SELECT min(held_since) FROM session_prices WHERE symbol = ?1 AND held_since > morning.held_since)
     FROM morning WHERE morning.held_since IS NOT NULL)
   SELECT coalesce(held_since, ''), coalesce(
     (SELECT max(date) FROM session_prices WHERE symbol = ?1 AND held_since = morning.held_since), '')
   FROM morning WHERE held_since IS NOT NULL`,
  [text, text],
);
const HOLDERS = query(
  `SELECT session_id AS sessionId, model, own.date FROM session_prices AS used
     CROSS JOIN trading_sessions AS own USING (session_id)
   WHERE used.symbol = ? AND used.held_since = ? AND used.date >= ? AND status = 'active' ORDER BY session_id`,
  { sessionId: integer, model: text, date: text },
);

/** A model-day that held a symbol over an unexplained jump. */
export interface SuspectedSplit extends RowOf<typeof HOLDERS> {
  jump: Jump;
}

/**
 * The active model-days whose figures may contain a split that the prices do not know, by symbol
 * and date of the jump. A split or dividend that explains it settles it, and so does a provider, or
 * a line of a file, that says that there was no split.
 */
export function suspectedSplits(reader: Reader): SuspectedSplit[] {
  const suspected: SuspectedSplit[] = [];
  for (const { symbol, since, lastDate } of heldSymbols(reader)) {
    const jumps = [...unexplainedJumps(reader, [symbol], { from: since, to: lastDate })];
    const mornings = jumps.length === 0 ? [] : MORNINGS.all(reader, symbol);
    for (const jump of jumps)
      for (const [from, to] of mornings)
        if (from < jump.date && jump.date <= to)
          for (const held of HOLDERS.all(reader, symbol, from, jump.date))
            suspected.push({ ...held, jump });
  }
  return suspected;
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
  sessions: readonly { sessionId: number }[],
  symbols: Iterable<string>,
) {
  return HELD.iterate(database, idsOf(sessions), [...symbols]);
}

const PAYS_NOTHING = query(`SELECT ${hasBarsOf(sourcesWithDividendsInSql, '?1')}`, [flag]);

/**
 * Whether nothing is ever paid on a symbol, because its prices contain its dividends or are made
 * up.
 */
export function paysNothing(reader: Reader, symbol: string): boolean {
  return PAYS_NOTHING.one(reader, symbol)[0] === 1;
}
