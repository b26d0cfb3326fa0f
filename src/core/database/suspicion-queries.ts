import type { DateSpan } from '#time/calendar.ts';
import { adjustedSourcesInSql } from '#database/schema/price-conditions.ts';
import type { Reader } from './database.ts';
import { namesSinceClose } from './exchanges.ts';
import { latestPrices } from './price-writes.ts';
import { distinct, flag, oneOf, orNull, query, reads, real, type ShapedRow, text } from './rows.ts';
import { MAX_NIGHT_DAYS, type StoredDividend } from './splits-and-dividends.ts';

/** What in the prices looks as if something about a symbol is unknown, and which sessions held it. */

export const suspectedKinds = ['split', 'dividend', 'end'] as const;

const SUSPICION = {
  kind: oneOf(suspectedKinds),
  symbol: text,
  /** Of the jump, the ex-date, or the day after the last bar. */
  date: text,
  /** The date of the close before, and that close. */
  last: text,
  from: real,
  /** The open, the cash per share; null of an end. */
  to: orNull(real),
  /** Whether prices are known after the close before. */
  isCovered: flag,
};

/** Something that is suspected of a symbol. */
export type Suspicion = ShapedRow<typeof SUSPICION>;

/** Raw prices that open this far below or above the previous close look like a split. */
const JUMP_RATIO = 0.3;
/** An open at a limit of 30 % is rounded to a cent. */
const HALF_CENT = 0.005;

/**
 * The overnight jumps of some symbols after one date up to another, into the open of a date, that
 * no stored split, dividend or exchange explains, and of which neither a provider nor a file says
 * that there was no split. They may be splits that the prices do not know: the ledger then takes
 * them for a gain or a loss. Adjusted series have none.
 *
 * Every bar is compared with the one before it, and only of a jump more is looked up. From a
 * provider a night is known when every day since the last bar is; what a file says of one date
 * holds for the night before it.
 */
const jumps = reads(
  'iterate',
  `WITH bars AS (
     SELECT symbol AS name, date AS day, open, source, lag(date) OVER before AS last, lag(coalesce(close, open)) OVER before AS previous
     FROM json_each(?1) CROSS JOIN price_data ON symbol = value AND date <= ?3
       AND date >= coalesce((SELECT max(date) FROM price_data WHERE symbol = value AND date <= ?2), '')
     WINDOW before AS (PARTITION BY symbol ORDER BY date)),
   nights AS MATERIALIZED (
     SELECT * FROM bars
     WHERE day > ?2 AND source NOT IN (${adjustedSourcesInSql})
       AND abs(open - previous) > ${JUMP_RATIO} * previous + ${HALF_CENT})
   SELECT 'split' AS kind, name AS symbol, day AS date, last, previous AS "from", open AS "to", TRUE AS isCovered FROM nights
   WHERE NOT EXISTS (SELECT 1 FROM dividends
       WHERE symbol = name AND ex_date > last AND ex_date <= day AND abs((open + cash_e6 / 1e6) / previous - 1) <= ${JUMP_RATIO})
     AND NOT EXISTS (SELECT 1 FROM stock_splits WHERE symbol = name AND date > last AND date <= day)
     AND NOT EXISTS (SELECT 1 FROM exchanges WHERE symbol = name AND date > last AND date <= day)
     AND NOT EXISTS (SELECT 1 FROM stock_split_coverage WHERE symbol = name AND end_date >= day)
     AND NOT EXISTS (SELECT 1 FROM stock_split_spans AS known
       WHERE symbol = name AND end_date >= day AND start_date <= iif(known.source = 'csv', day, date(last, '+1 day')))
   ORDER BY name, day`,
  SUSPICION,
  (symbols: readonly string[], { from, to }: DateSpan) => [symbols, from, to],
);

/** Without those of a share whose latest close before is one under an earlier name. */
export function unexplainedJumps(...asked: Parameters<typeof jumps>): Suspicion[] {
  const prices = latestPrices(asked[0]);
  return [...jumps(...asked)].filter(
    ({ symbol, date }) => namesSinceClose(prices, symbol, date).length === 1,
  );
}

/** A dividend above this share of the close before it may be something else. */
const MAX_SHARE_OF_CLOSE = 0.25;

/**
 * A dividend that pays this cash per share of its series, with the close before it: if it is large,
 * not confirmed, and no exchange explains it. With a write, only where it or that close was written
 * since; never where the close is not known, or long ago.
 */
export const largeDividend = reads(
  'all',
  `SELECT 'dividend' AS kind, own.symbol, ex_date AS date, bar.date AS last, coalesce(close, open) AS "from", ?3 AS "to", TRUE AS isCovered
   FROM dividends AS own JOIN price_data AS bar ON bar.symbol = ?1 AND bar.date = (
     SELECT max(date) FROM price_data WHERE symbol = ?1 AND date < ?2 AND close IS NOT NULL)
   WHERE own.symbol = ?1 AND ex_date = ?2 AND NOT confirmed AND ?3 > ${MAX_SHARE_OF_CLOSE} * close
     AND bar.date >= date(?2, '-${MAX_NIGHT_DAYS} days') AND (?4 IS NULL OR bar.written > ?4 OR own.written > ?4)
     AND NOT EXISTS (SELECT 1 FROM exchanges WHERE symbol = ?1 AND date > bar.date AND date <= ?2)`,
  SUSPICION,
  ({ symbol, exDate }: StoredDividend, cash: number, write: number | null) => [
    symbol,
    exDate,
    cash,
    write,
  ],
);

/**
 * The last bars of some symbols that are before a date, and before a session with their symbol, and
 * that no exchange ends.
 */
export const possibleEnds = reads(
  'all',
  `SELECT 'end' AS kind, symbol, date(date, '+1 day') AS date, date AS last, coalesce(close, open) AS "from", NULL AS "to",
     EXISTS (SELECT 1 FROM price_data_coverage WHERE symbol = bar.symbol AND end_date > bar.date) AS isCovered
   FROM json_each(?1) CROSS JOIN price_data AS bar ON symbol = value AND date < ?2
     AND date = (SELECT max(date) FROM price_data WHERE symbol = value)
   WHERE EXISTS (SELECT 1 FROM session_prices WHERE symbol = bar.symbol AND date > bar.date)
     AND NOT EXISTS (SELECT 1 FROM exchanges WHERE symbol = bar.symbol AND date > bar.date AND NOT remains)`,
  SUSPICION,
  (symbols: readonly string[], { to }: DateSpan) => [symbols, to],
);

/**
 * Whether a session held a symbol over what is suspected, and was paid if that is a dividend; of an
 * end, whether it held the symbol while another one of its universe traded.
 */
export const isHeldOver = reads(
  'has',
  `SELECT symbol FROM session_prices AS used CROSS JOIN trading_sessions USING (session_id) CROSS JOIN jobs USING (job_id)
   WHERE session_id = ?1 AND symbol = ?2 AND held_since < iif(?4 = 'end', '~', ?3) AND (?4 <> 'dividend' OR pays_dividends)
     AND (?4 <> 'end' OR EXISTS (SELECT 1 FROM json_each(agent_config, '$.stock_symbols') AS other
       CROSS JOIN price_data AS bar ON bar.symbol = other.value AND bar.date = used.date))`,
  [text],
  (sessionId: number, { symbol, date, kind }: Suspicion) => [sessionId, symbol, date, kind],
);

const namesHeld = distinct(
  'symbol',
  '(SELECT symbol FROM session_prices INDEXED BY session_prices_by_holding WHERE held_since IS NOT NULL)',
);

const HELD_SYMBOLS = query(
  `SELECT value AS symbol,
     (SELECT coalesce(min(held_since), '') FROM session_prices WHERE symbol = value AND held_since IS NOT NULL) AS since,
     (SELECT coalesce(max(date), '') FROM session_prices WHERE symbol = value) AS lastDate
   FROM json_each(?)`,
  {
    symbol: text,
    /** The earliest date since whose close one of them held it. */
    since: text,
    /** Of the latest session that held or traded it. */
    lastDate: text,
  },
);

/**
 * Every symbol that a committed session held in its morning, by name: a few look-ups each, however
 * many sessions held it.
 */
export function heldSymbols(reader: Reader) {
  return HELD_SYMBOLS.all(reader, [...namesHeld(reader)]);
}
