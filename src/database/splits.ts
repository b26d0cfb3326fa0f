import type { CalendarDate } from '../calendar.ts';
import type { Steps } from '../turns.ts';
import type { Database } from './database.ts';
import type { Split } from './market.ts';
import { type RowOf, query, real, text } from './rows.ts';
import { type Coverage, splitSpans } from './spans.ts';

/** Raw prices that open this far below or above the previous close look like a split. */
const JUMP_RATIO = 0.3;

const JUMPS = query(
  `WITH nights AS (
     SELECT symbol, date, open, lag(date) OVER days AS previous_date, lag(coalesce(close, open)) OVER days AS previous_close
     FROM price_data
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND date BETWEEN ?2 AND ?3 AND NOT adjusted
     WINDOW days AS (PARTITION BY symbol ORDER BY date)
   )
   SELECT symbol, date, previous_close AS previousClose, open FROM nights
   WHERE abs(open / previous_close - 1) > ${JUMP_RATIO}
     AND NOT EXISTS (SELECT 1 FROM stock_splits
       WHERE stock_splits.symbol = nights.symbol AND stock_splits.date > previous_date AND stock_splits.date <= nights.date)
     AND NOT EXISTS (SELECT 1 FROM stock_split_coverage AS asked
       WHERE asked.symbol = nights.symbol AND asked.end_date >= nights.date)
     AND NOT EXISTS (SELECT 1 FROM stock_split_spans AS known
       WHERE known.symbol = nights.symbol AND known.start_date <= date(previous_date, '+1 day') AND known.end_date >= nights.date)
   ORDER BY symbol, date`,
  { symbol: text, date: text, previousClose: real, open: real },
);

/** An unexplained overnight jump of raw prices. */
export type Jump = RowOf<typeof JUMPS>;

/**
 * The jumps of some symbols between two dates that no stored split explains and that no provider has been asked about since.
 * Adjusted series have none.
 */
export function unexplainedJumps(
  database: Database,
  symbols: readonly string[],
  { from, to }: { from: CalendarDate; to: CalendarDate },
): Jump[] {
  return JUMPS.all(database, JSON.stringify(symbols), from, to);
}

const UPSERT = `
  INSERT INTO stock_splits (symbol, date, numerator, denominator, source, recorded_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (symbol, date) DO UPDATE SET numerator = excluded.numerator, denominator = excluded.denominator,
    source = excluded.source, recorded_at = excluded.recorded_at
  WHERE numerator <> excluded.numerator OR denominator <> excluded.denominator`;

/**
 * Stores a provider's splits of a symbol, one in each step, and at last the date through which they are known; within the caller's
 * transactions.
 */
export function* storeSplits(
  database: Database,
  { symbol, splits, endDate }: { symbol: string; splits: readonly Split[]; endDate: CalendarDate },
  { source, recordedAt }: { source: string; recordedAt: string },
): Steps<void> {
  yield* upsert(database, splits.map((split) => ({ ...split, symbol })), { source, recordedAt });
  database
    .statement(
      `INSERT INTO stock_split_coverage (symbol, end_date, source, recorded_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (symbol) DO UPDATE SET end_date = excluded.end_date, source = excluded.source, recorded_at = excluded.recorded_at
       WHERE end_date < excluded.end_date`,
    )
    .run(symbol, endDate, source, recordedAt);
}

const SPLIT_DATES = query('SELECT date FROM stock_splits WHERE symbol = ?1 AND source = ?2 AND date BETWEEN ?3 AND ?4', [text]);

/**
 * Stores the splits that a provider names for some spans, one in each step, within the caller's transactions. Within its spans the
 * list replaces the provider's earlier one: a split that it does not name any more is removed. The last step adds the spans;
 * `knownThrough` ends what is known of them: later splits are announced, and may change.
 */
export function* storeSplitSpans(
  database: Database,
  { splits, spans, knownThrough }: { splits: readonly Split[]; spans: readonly Coverage[]; knownThrough: CalendarDate },
  { source, recordedAt }: { source: string; recordedAt: string },
): Steps<void> {
  const named = new Set(splits.map(({ symbol, date }) => `${symbol} ${date}`));
  const remove = database.statement('DELETE FROM stock_splits WHERE symbol = ? AND date = ?');
  for (const { symbol, startDate, endDate } of spans)
    for (const [date] of SPLIT_DATES.all(database, symbol, source, startDate, endDate))
      if (!named.has(`${symbol} ${date}`)) {
        remove.run(symbol, date);
        yield null;
      }
  yield* upsert(database, splits, { source, recordedAt });
  for (const { symbol, startDate, endDate } of spans) {
    const last = endDate < knownThrough ? endDate : knownThrough;
    if (startDate <= last) splitSpans.add(database, { symbol, startDate, endDate: last }, { source, recordedAt });
  }
}

/** Each one is compared with the model-days that held its symbol. */
function* upsert(
  database: Database,
  splits: readonly Split[],
  { source, recordedAt }: { source: string; recordedAt: string },
): Steps<void> {
  const statement = database.statement(UPSERT);
  for (const { symbol, date, numerator, denominator } of splits) {
    statement.run(symbol, date, numerator, denominator, source, recordedAt);
    yield null;
  }
}
