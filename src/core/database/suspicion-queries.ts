import type { Reader } from './database.ts';
import { flag, integer, orNull, query, reads, real, type RowOf, text } from './rows.ts';
import { pickIds } from './session-filters.ts';

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
   WHERE used.symbol = ?2 AND held_since IS NOT NULL AND (NOT ?3 OR EXISTS (
     SELECT 1 FROM trading_sessions AS own JOIN jobs USING (job_id) CROSS JOIN json_each(agent_config, '$.stock_symbols') AS other
       CROSS JOIN price_data AS bar ON bar.symbol = other.value AND bar.date = own.date
     WHERE own.session_id = chosen.value AND other.value <> ?2))`,
  [integer],
);

/**
 * Which of some sessions held a symbol in their mornings; perhaps only those on which another one of
 * the universe traded.
 */
export function holders(
  reader: Reader,
  days: readonly { sessionId: number }[],
  symbol: string,
  othersTraded: boolean,
) {
  return new Set(HOLDERS.all(reader, pickIds(days), symbol, Number(othersTraded)).flat());
}

/** The last bars of some symbols that no exchange ends, and whether prices are known after them. */
export const lastBarsOf = reads(
  'all',
  `SELECT bar.symbol, bar.date AS last, coalesce(bar.close, bar.open) AS "from", EXISTS (
     SELECT 1 FROM price_data_coverage AS span WHERE span.symbol = bar.symbol AND end_date > bar.date) AS isCovered
   FROM json_each(?1) AS chosen CROSS JOIN price_data AS bar ON bar.symbol = chosen.value
     AND bar.date = (SELECT max(date) FROM price_data AS own WHERE own.symbol = chosen.value)
   WHERE NOT EXISTS (SELECT 1 FROM exchanges AS exchange
     WHERE exchange.symbol = bar.symbol AND exchange.date > bar.date AND NOT remains)`,
  { symbol: text, last: text, from: real, isCovered: flag },
  (symbols: readonly string[]) => [symbols],
);

/** The active model-days of a job's models, from two months before its start on. */
export const daysOfModels = reads(
  'all',
  `SELECT own.model, session_id AS sessionId, own.job_id AS jobId, date, own.start_date AS startDate, pays_dividends AS paysDividends
   FROM jobs JOIN simulation_runs USING (job_id) CROSS JOIN daily_returns AS own ON own.model = simulation_runs.model
   WHERE jobs.job_id = ? AND date >= date(jobs.start_date, '-2 months')`,
  {
    ...{ model: text, sessionId: integer, jobId: text },
    ...{ date: text, startDate: orNull(text), paysDividends: flag },
  },
  (jobId: string) => [jobId],
);
