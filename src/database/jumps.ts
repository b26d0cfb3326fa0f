import type { CalendarDate } from '../basics/calendar.ts';
import type { Reader } from './database.ts';
import { query, real, type RowOf, text } from './rows.ts';
import { adjustedSourcesInSql } from './schema/price-conditions.ts';

/**
 * Overnight jumps of raw prices that nothing explains. One may be a split that the prices do not
 * know: the ledger then takes it for a gain or a loss.
 */

/** Raw prices that open this far below or above the previous close look like a split. */
const JUMP_RATIO = 0.3;

/** Of the bar before a bar. */
const previous = (value: string) =>
  `(SELECT ${value} FROM price_data AS past WHERE past.symbol = own.symbol AND past.date < own.date ORDER BY date DESC LIMIT 1)`;
const CLOSE = previous('coalesce(close, open)');

/**
 * Every bar is compared with the one before it, and only of a jump more is looked up. From a
 * provider a night is known when every day since the last bar is; what a file says of one date
 * holds for the night before it.
 */
const JUMPS = query(
  `WITH nights AS MATERIALIZED (
     SELECT symbol, date, open, source IN (${adjustedSourcesInSql}) AS adjusted,
       ${previous('date')} AS previous_date, ${CLOSE} AS previous_close
     FROM price_data AS own
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND date <= ?3 AND abs(open / ${CLOSE} - 1) > ${JUMP_RATIO}
   )
   SELECT symbol, date, previous_close AS previousClose, open FROM nights
   WHERE NOT adjusted AND NOT EXISTS (SELECT 1 FROM dividends
       WHERE dividends.symbol = nights.symbol AND ex_date > previous_date AND ex_date <= nights.date
         AND abs((open + cash_e6 / 1e6) / previous_close - 1) <= ${JUMP_RATIO})
     AND NOT EXISTS (SELECT 1 FROM stock_splits
       WHERE stock_splits.symbol = nights.symbol AND stock_splits.date > previous_date AND stock_splits.date <= nights.date)
     AND NOT EXISTS (SELECT 1 FROM stock_split_coverage AS asked
       WHERE asked.symbol = nights.symbol AND asked.end_date >= nights.date)
     AND NOT EXISTS (SELECT 1 FROM stock_split_spans AS known
       WHERE known.symbol = nights.symbol AND known.end_date >= nights.date
         AND known.start_date <= iif(known.source = 'csv', nights.date, date(previous_date, '+1 day')))
   ORDER BY symbol, date`,
  { symbol: text, date: text, previousClose: real, open: real },
);

/** An unexplained overnight jump of raw prices, into the open of a date. */
export type Jump = RowOf<typeof JUMPS>;

/**
 * The jumps of some symbols after one date up to another that no stored split or dividend explains,
 * and of which neither a provider nor a file says that there was no split. Adjusted series have
 * none.
 */
export function unexplainedJumps(
  reader: Reader,
  symbols: readonly string[],
  { from, to }: { from: CalendarDate; to: CalendarDate },
): IterableIterator<Jump> {
  return JUMPS.iterate(reader, JSON.stringify(symbols), from, to);
}
