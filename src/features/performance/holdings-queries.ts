import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import type { Money } from '#money/money.ts';
import type { Database, Reader } from '#database/database.ts';
import { amount, integer, orNull, query, type RowOf, text } from '#database/rows.ts';
import { pickIds } from '#database/session-filters.ts';
import { type Jump, unexplainedJumps } from '#database/splits-and-dividends.ts';
import type { ActiveDay } from './queries.ts';
import { at } from '../statistics/moments.ts';

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

/** Two look-ups per symbol, however many sessions held it. */
const HELD_SYMBOLS = query(
  `WITH RECURSIVE held (symbol) AS (
     SELECT min(symbol) FROM session_prices INDEXED BY session_prices_by_holding WHERE held_since IS NOT NULL
     UNION ALL SELECT (SELECT min(symbol) FROM session_prices INDEXED BY session_prices_by_holding
       WHERE held_since IS NOT NULL AND symbol > held.symbol) FROM held WHERE held.symbol IS NOT NULL)
   SELECT symbol,
     (SELECT coalesce(min(held_since), '') FROM session_prices AS own WHERE own.symbol = held.symbol AND held_since IS NOT NULL) AS since,
     (SELECT coalesce(max(date), '') FROM session_prices AS own WHERE own.symbol = held.symbol) AS lastDate
   FROM held WHERE symbol IS NOT NULL ORDER BY symbol`,
  {
    symbol: text,
    since: text, // the earliest date since whose close one of them held it
    lastDate: text, // of the latest session that held or traded it
  },
);

/** A symbol that committed sessions held in their mornings. */
export type HeldSymbol = RowOf<typeof HELD_SYMBOLS>;

/** Every symbol that a committed session held in its morning, by name. */
export function heldSymbols(reader: Reader): HeldSymbol[] {
  return HELD_SYMBOLS.all(reader);
}

const HOLDERS = query(
  `SELECT chosen.value FROM json_each(?1) AS chosen CROSS JOIN session_prices AS used ON used.session_id = chosen.value
   WHERE used.symbol = ?2 AND held_since IS NOT NULL`,
  [integer],
);

/** A model-day that held a symbol over an unexplained jump. */
export interface SuspectedSplit {
  sessionId: number;
  date: CalendarDate;
  jump: Jump;
}

/**
 * Finds those of some model-days whose figures may contain a split that the prices do not know, by
 * symbol. A split or dividend that explains a jump settles it, and so does a provider, or a line of
 * a file, that says that there was no split. The jumps are read once, for all calls.
 */
export function createSplitSearch(reader: Reader, held: readonly HeldSymbol[], span: DateSpan) {
  const symbols = held.map(({ symbol }) => symbol);
  const found = Map.groupBy(unexplainedJumps(reader, symbols, span), ({ symbol }) => symbol);
  return (days: readonly ActiveDay[]): SuspectedSplit[] => {
    if (found.size === 0) return [];
    const dates = days.flatMap(({ date, startDate }) => [startDate ?? date, date]).sort();
    return [...found].flatMap(([symbol, jumps]) => {
      // By date, how many of the jumps are not after it.
      const upTo = new Map<string, number>();
      let passed = 0;
      for (const date of dates) {
        while (passed < jumps.length && at(jumps, passed).date <= date) passed += 1;
        upTo.set(date, passed);
      }
      const over = days.flatMap(({ sessionId, date, startDate }) =>
        jumps
          .slice(upTo.get(startDate ?? date), upTo.get(date))
          .map((jump): SuspectedSplit => ({ sessionId, date, jump })),
      );
      const holders = new Set(HOLDERS.all(reader, pickIds(over), symbol).flat());
      return over.filter(({ sessionId }) => holders.has(sessionId));
    });
  };
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
export function uncoveredHoldings(
  database: Database,
  sessions: readonly { sessionId: number }[],
  symbols: Iterable<string>,
) {
  return HELD.iterate(database, pickIds(sessions), [...symbols]);
}
