import type { CalendarDate } from '#time/calendar.ts';
import { amount, flag, oneOf, orNull, reads, real, text, type RowOf } from '#database/rows.ts';
import {
  adjustedSourcesInSql,
  hasBarsSql,
  sourcesWithDividendsInSql,
} from '#database/schema/price-conditions.ts';

/** What model-days used of prices, splits and dividends, by symbol and date. */

const COMMITTED = `status IN ('active', 'superseded')`;

/** SQL: the rows of a table of evidence that belong to committed model-days. */
const usedRows = (table: string) =>
  `FROM ${table} JOIN trading_sessions USING (session_id) WHERE ${COMMITTED}`;

const USED_PRICES = `
  SELECT DISTINCT symbol, coalesce(open_date, '') AS date,
    iif(open_date = session_prices.date, 'open', 'close') AS kind, coalesce(open_e4, 0) AS price
  ${usedRows('session_prices')} AND open_date IS NOT NULL
  UNION SELECT symbol, coalesce(close_date, ''), 'close', coalesce(close_e4, 0)
  ${usedRows('session_prices')} AND close_date IS NOT NULL
  ORDER BY 1, 2, 3`;

/** Each price once that the ledger of a committed model-day used, with the date of its bar. */
export const usedPrices = reads('all', USED_PRICES, {
  symbol: text,
  date: text,
  kind: oneOf(['open', 'close']),
  price: amount,
});

/**
 * Symbols with the dates between which model-days may have read them: those of a universe from the
 * first close that a committed model-day started from to the last one's date.
 */
export const usedSpans = reads(
  'all',
  `WITH read AS MATERIALIZED (
     SELECT own.job_id, min(coalesce(past.date, own.date)) AS since, max(own.date) AS last
     FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
     WHERE own.${COMMITTED} GROUP BY own.job_id)
   SELECT symbol, min(since) AS "from", max(last) AS "to" FROM (
     SELECT value AS symbol, since, last FROM read JOIN jobs USING (job_id) JOIN json_each(agent_config, '$.stock_symbols')
     UNION ALL SELECT symbol, date, date FROM (${USED_PRICES}))
   GROUP BY symbol`,
  { symbol: text, from: text, to: text },
);

/** SQL: splits, dividends and exchanges of three tables, each once. */
const actionsSql = ([splits, dividends, exchanges]: readonly string[]) => `
  SELECT symbol, date, 'split' AS kind, NULL AS "into", 1.0 * numerator / denominator AS value, '' AS basis,
    numerator || ':' || denominator AS ratio, 0 AS remains FROM ${splits}
  UNION SELECT symbol, ex_date, 'dividend', NULL, cash_e6, basis, NULL, 0 FROM ${dividends}
  UNION SELECT symbol, date, 'exchange', into_symbol, cash_e6, '', numerator || ':' || denominator, remains FROM ${exchanges}
  ORDER BY 1, 2, 3, 4`;

const ACTION_COLUMNS = {
  symbol: text,
  date: text,
  kind: oneOf(['split', 'dividend', 'exchange']),
  into: orNull(text), // '' where an exchange brings no shares
  value: real, // of new shares for an old one, or cash per share in 1/1,000,000 dollar
  basis: text, // of a dividend
  ratio: orNull(text), // of new shares to old ones
  remains: flag,
};

export type UsedAction = RowOf<typeof usedActions>;

/** What committed model-days knew of what they held, and the dividends that they were paid. */
export const usedActions = reads(
  'all',
  actionsSql(
    ['session_splits', 'session_dividends', 'session_exchanges'].map(
      (table) =>
        `${table} WHERE session_id IN (SELECT session_id FROM trading_sessions WHERE ${COMMITTED})`,
    ),
  ),
  ACTION_COLUMNS,
);

/** All that are stored. */
export const storedActions = reads(
  'all',
  actionsSql(['stock_splits', 'dividends', 'exchanges']),
  ACTION_COLUMNS,
);

/** Whether a committed model-day held a symbol over a date on which this would have counted. */
export const wasHeldOver = reads(
  'cell',
  `SELECT EXISTS (
     SELECT 1 ${usedRows('session_prices')}
       AND symbol = ?1 AND held_since < ?2 AND session_prices.date >= ?2
       AND (?3 <> 'dividend' OR pays_dividends))
     AND NOT (?3 = 'split' AND ${hasBarsSql(adjustedSourcesInSql, '?1')})
     AND NOT (?3 = 'dividend' AND ${hasBarsSql(sourcesWithDividendsInSql, '?1')})`,
  [flag],
  (symbol: string, date: CalendarDate, kind: UsedAction['kind']) => [symbol, date, kind],
);
