import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import type { Reader } from './database.ts';
import { flag, integer, orNull, query, reads, real, type RowOf, text } from './rows.ts';
import { pickIds } from './session-filters.ts';
import { MAX_NIGHT_DAYS } from './splits-and-dividends.ts';

/** What model-days held over a morning, and prices that look as if something about it is unknown. */

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

/** Which of some sessions held a symbol in their mornings. */
export function holders(reader: Reader, days: readonly { sessionId: number }[], symbol: string) {
  return new Set(HOLDERS.all(reader, pickIds(days), symbol).flat());
}

const OTHERS_TRADED = query(
  `SELECT own.session_id FROM json_each(?1) AS chosen CROSS JOIN trading_sessions AS own ON own.session_id = chosen.value
   WHERE EXISTS (SELECT 1 FROM jobs CROSS JOIN json_each(agent_config, '$.stock_symbols') AS other
     CROSS JOIN price_data ON price_data.symbol = other.value AND price_data.date = own.date
     WHERE jobs.job_id = own.job_id AND other.value <> ?2)`,
  [integer],
);

/** On which of some sessions a symbol of the universe other than this one traded. */
export function othersTraded(
  reader: Reader,
  days: readonly { sessionId: number }[],
  symbol: string,
) {
  return new Set(OTHERS_TRADED.all(reader, pickIds(days), symbol).flat());
}

/**
 * Dividends after one date up to another that are not confirmed and that no exchange explains, with the
 * close before each, where they are above a share of it or splits convert them.
 */
export const doubtfulDividends = reads(
  'all',
  `SELECT dividends.symbol, ex_date AS exDate, coalesce(before.close, 0) AS close
   FROM json_each(?1) AS chosen CROSS JOIN dividends ON dividends.symbol = chosen.value AND ex_date > ?2 AND ex_date <= ?3
     CROSS JOIN price_data AS before ON before.symbol = dividends.symbol AND before.date = (
       SELECT max(date) FROM price_data AS past WHERE past.symbol = dividends.symbol AND past.date < ex_date
         AND past.date >= date(ex_date, '-${MAX_NIGHT_DAYS} days') AND past.close IS NOT NULL)
   WHERE NOT confirmed AND (cash_e6 > ?4 * 1e6 * before.close OR EXISTS (
       SELECT 1 FROM stock_splits AS split WHERE split.symbol = dividends.symbol AND split.date >= ex_date))
     AND NOT EXISTS (SELECT 1 FROM exchanges AS exchange
       WHERE exchange.symbol = dividends.symbol AND exchange.date > before.date AND exchange.date <= ex_date)
   ORDER BY dividends.symbol, ex_date`,
  { symbol: text, exDate: text, close: real },
  (symbols: readonly string[], { from, to }: DateSpan, share: number) => [symbols, from, to, share],
);

/**
 * The last bars of some symbols that no exchange ends, and through which date its prices are known.
 */
export const lastBarsOf = reads(
  'all',
  `SELECT bar.symbol, bar.date, coalesce(bar.close, bar.open) AS close,
     (SELECT max(end_date) FROM price_data_coverage AS span WHERE span.symbol = bar.symbol) AS knownThrough
   FROM json_each(?1) AS chosen CROSS JOIN price_data AS bar ON bar.symbol = chosen.value
     AND bar.date = (SELECT max(date) FROM price_data AS own WHERE own.symbol = chosen.value)
   WHERE NOT EXISTS (SELECT 1 FROM exchanges AS exchange
     WHERE exchange.symbol = bar.symbol AND exchange.date > bar.date AND NOT remains)
   ORDER BY bar.symbol`,
  { symbol: text, date: text, close: real, knownThrough: orNull(text) },
  (symbols: readonly string[]) => [symbols],
);

/** The dates over which the model-days of a job held something; null where it has none. */
export const jobSpan = reads(
  'get',
  `SELECT min(coalesce(start_date, date)) AS "from", max(date) AS "to" FROM daily_returns WHERE job_id = ? HAVING count(*) > 0`,
  { from: text, to: text },
  (jobId: string) => [jobId],
);

/** The active model-days of the models of a job from a date on. */
export const daysOfModels = reads(
  'all',
  `SELECT own.model, session_id AS sessionId, own.job_id AS jobId, date, own.start_date AS startDate, pays_dividends AS paysDividends
   FROM simulation_runs CROSS JOIN daily_returns AS own ON own.model = simulation_runs.model
   WHERE simulation_runs.job_id = ?1 AND date >= ?2 ORDER BY own.model, date`,
  {
    model: text,
    sessionId: integer,
    jobId: text,
    date: text,
    startDate: orNull(text),
    paysDividends: flag,
  },
  (jobId: string, from: CalendarDate) => [jobId, from],
);
