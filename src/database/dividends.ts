import type { CalendarDate } from '../calendar.ts';
import type { Steps } from '../turns.ts';
import { sourcesWithDividendsInSql, SPLITS_SINCE } from './schema/price-conditions.ts';
import type { Database, Reader } from './database.ts';
import { integer, oneOf, query, type RowOf, text } from './rows.ts';
import { type Coverage, dividendSpans } from './spans.ts';

/**
 * What a source means by its amounts: cash per share as it was paid then, or divided by all later
 * splits.
 */
export const dividendBases = ['as_paid', 'split_adjusted'] as const;
export type DividendBasis = (typeof dividendBases)[number];

/** Cash that one share pays, in 1/1,000,000 dollar. */
export interface Dividend {
  symbol: string;
  exDate: CalendarDate;
  cash: number;
}

/** One response or file: its dividends, and the spans for which it names all of them. */
export interface DividendList {
  dividends: readonly Dividend[];
  spans: readonly Coverage[];
  basis: DividendBasis;
}

const UPSERT = `
  INSERT INTO dividends (symbol, ex_date, cash_e6, basis, source, recorded_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (symbol, ex_date) DO UPDATE SET cash_e6 = excluded.cash_e6, basis = excluded.basis, source = excluded.source,
    recorded_at = excluded.recorded_at
  WHERE cash_e6 <> excluded.cash_e6 OR basis <> excluded.basis`;

/**
 * Stores a list of dividends, one in each step, within the caller's transactions. Several payments
 * of one ex-date add up; the list replaces what was stored: within its spans, a dividend that it
 * does not name is removed. The last step adds the spans. Returns how many rows are new, changed or
 * gone.
 */
export function* storeDividends(
  database: Database,
  { dividends, spans, basis }: DividendList,
  { source, recordedAt }: { source: string; recordedAt: string },
): Steps<number> {
  const sums = new Map<string, Dividend>();
  for (const dividend of dividends) {
    const key = `${dividend.symbol} ${dividend.exDate}`;
    sums.set(key, { ...dividend, cash: dividend.cash + (sums.get(key)?.cash ?? 0) });
  }
  let changed = 0;
  const remove = database.statement('DELETE FROM dividends WHERE symbol = ? AND ex_date = ?');
  for (const span of spans)
    for (const exDate of exDatesWithin(database, span))
      if (!sums.has(`${span.symbol} ${exDate}`)) {
        changed += Number(remove.run(span.symbol, exDate).changes);
        yield null;
      }
  const upsert = database.statement(UPSERT);
  for (const { symbol, exDate, cash } of sums.values()) {
    changed += Number(upsert.run(symbol, exDate, cash, basis, source, recordedAt).changes);
    yield null;
  }
  for (const span of spans) dividendSpans.add(database, span, { source, recordedAt });
  return changed;
}

const EX_DATES = query(
  'SELECT ex_date FROM dividends WHERE symbol = ?1 AND ex_date BETWEEN ?2 AND ?3',
  [text],
);

function exDatesWithin(reader: Reader, { symbol, startDate, endDate }: Coverage): CalendarDate[] {
  return EX_DATES.all(reader, symbol, startDate, endDate).flat();
}

/** Looks through the bars of each symbol once, not once for each of its dividends. */
const DIVIDENDS = query(
  `WITH due AS MATERIALIZED (
     SELECT symbol, ex_date, cash_e6, basis FROM dividends
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND ex_date > ?2 AND ex_date <= ?3),
   series AS MATERIALIZED (
     SELECT symbol, EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = payer.symbol AND adjusted) AS adjusted
     FROM (SELECT DISTINCT symbol FROM due) AS payer
     WHERE NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = payer.symbol AND source IN (${sourcesWithDividendsInSql})))
   SELECT symbol, ex_date AS exDate, cash_e6 AS cash, basis,
     CASE WHEN (basis = 'split_adjusted') <> adjusted THEN ${SPLITS_SINCE} ELSE '' END AS splits
   FROM due AS dividends JOIN series USING (symbol) ORDER BY ex_date, symbol`,
  {
    symbol: text,
    exDate: text,
    cash: integer, // as its source tells it
    basis: oneOf(dividendBases),
    splits: text, // those that convert it to the shares of its series, as '2024-06-10 10:1, 2025-01-02 2:1'
  },
);

/** A dividend as stored. */
export type StoredDividend = RowOf<typeof DIVIDENDS>;

/**
 * The dividends of some symbols after one date up to another, in order, without those that prices
 * contain.
 */
export function dividendsBetween(
  reader: Reader,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): StoredDividend[] {
  return DIVIDENDS.all(reader, JSON.stringify(symbols), after, upTo);
}

/**
 * The spans between two dates for which the dividends of some symbols are known, from any source.
 */
export const dividendCoverage = dividendSpans.between;
