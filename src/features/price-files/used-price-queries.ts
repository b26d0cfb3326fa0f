import { EXCHANGE_COLUMNS } from '#database/exchanges.ts';
import type { CalendarDate } from '#time/calendar.ts';
import type { Reader } from '#database/database.ts';
import { amount, flag, oneOf, query, reads, text, type RowOf } from '#database/rows.ts';
import {
  adjustedSourcesInSql,
  hasBarsSql,
  sourcesWithDividendsInSql,
} from '#database/schema/price-conditions.ts';
import { DIVIDEND_COLUMNS } from '#database/splits-and-dividends.ts';
import { SPLIT_COLUMNS } from '#database/market-queries.ts';

/** What model-days used of prices, splits and dividends, by symbol and date. */

const COMMITTED = `status IN ('active', 'superseded')`;

/**
 * The terms of each job with committed model-days, and the dates on whose prices these traded: from
 * the first close that one of them started from to the last.
 */
export const usedSpans = reads(
  'all',
  `SELECT agent_config AS agentConfig, min(coalesce(past.date, own.date)) AS "from", max(own.date) AS "to"
   FROM trading_sessions AS own JOIN jobs USING (job_id)
     LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   WHERE own.${COMMITTED} GROUP BY own.job_id`,
  { agentConfig: text, from: text, to: text },
);

/** SQL: the rows of a table of evidence that belong to committed model-days. */
const usedRows = (table: string) =>
  `FROM ${table} JOIN trading_sessions USING (session_id) WHERE ${COMMITTED}`;

/** Each price once that the ledger of a committed model-day used, with the date of its bar. */
export const usedPrices = reads(
  'all',
  `SELECT DISTINCT symbol, coalesce(open_date, '') AS date,
     iif(open_date = session_prices.date, 'open', 'close') AS kind, coalesce(open_e4, 0) AS price
   ${usedRows('session_prices')} AND open_date IS NOT NULL
   UNION SELECT symbol, coalesce(close_date, ''), 'close', coalesce(close_e4, 0)
   ${usedRows('session_prices')} AND close_date IS NOT NULL
   ORDER BY 1, 2, 3`,
  {
    symbol: text,
    date: text,
    kind: oneOf(['open', 'close']),
    price: amount,
  },
);

export type UsedSplit = RowOf<typeof usedSplits>;

/** The splits that committed model-days knew of what they held. */
export const usedSplits = reads(
  'all',
  `SELECT DISTINCT symbol, session_splits.date, numerator, denominator
   ${usedRows('session_splits')} ORDER BY 1, 2`,
  SPLIT_COLUMNS,
);

/** The exchanges that committed model-days knew of what they held. */
export const usedExchanges = reads(
  'all',
  `SELECT DISTINCT symbol, session_exchanges.date, into_symbol AS "into", cash_e6 AS cash, numerator, denominator, remains
   ${usedRows('session_exchanges')} ORDER BY 1, 2, 3`,
  EXCHANGE_COLUMNS,
);

export type UsedExchange = RowOf<typeof usedExchanges>;

export type UsedDividend = RowOf<typeof usedDividends>;

/** The dividends that committed model-days were paid. */
export const usedDividends = reads(
  'all',
  `SELECT DISTINCT symbol, ex_date AS exDate, cash_e6 AS cash, basis
   ${usedRows('session_dividends')} ORDER BY 1, 2`,
  DIVIDEND_COLUMNS,
);

const HELD_OVER = query(
  `SELECT EXISTS (
     SELECT 1 ${usedRows('session_prices')}
       AND symbol = ?1 AND held_since < ?2 AND session_prices.date >= ?2
       AND (?3 <> 'dividend' OR pays_dividends))
     AND NOT (?3 = 'split' AND ${hasBarsSql(adjustedSourcesInSql, '?1')})
     AND NOT (?3 = 'dividend' AND ${hasBarsSql(sourcesWithDividendsInSql, '?1')})`,
  [flag],
);

export type Action = 'split' | 'dividend' | 'exchange';

/** Whether a committed model-day held a symbol over a date on which this would have counted. */
export function wasHeldOver(
  reader: Reader,
  symbol: string,
  { date, kind }: { date: CalendarDate; kind: Action },
): boolean {
  return HELD_OVER.one(reader, symbol, date, kind)[0] === 1;
}
