import { type CalendarDate, addDays } from '../calendar.ts';
import type { Database, Reader } from './database.ts';
import { query, text } from './rows.ts';

/** A span in which something of a symbol is known, both ends included. */
export interface Coverage {
  symbol: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
}

/** What is known from where, by symbol: the tables of spans have the same columns. */
export interface Spans {
  /**
   * Records within the caller's transaction that a source's values are known in a span; adjoining
   * spans are merged.
   */
  add(database: Database, span: Coverage, stamp: { source: string; recordedAt: string }): void;
  /** The spans of some symbols between two dates, from any source, by symbol and start. */
  between(
    reader: Reader,
    symbols: readonly string[],
    dates: { from: CalendarDate; to: CalendarDate },
  ): Coverage[];
}

/** The parts of a span without some dates. */
export function spanWithout(
  { symbol, startDate, endDate }: Coverage,
  dates: Iterable<CalendarDate>,
): Coverage[] {
  const ends = [...new Set(dates)].filter((date) => startDate <= date && date <= endDate).sort();
  const starts = [startDate, ...ends.map((date) => addDays(date, 1))];
  return starts.flatMap((start, index) => {
    const next = ends[index];
    const end = next === undefined ? endDate : addDays(next, -1);
    return start <= end ? [{ symbol, startDate: start, endDate: end }] : [];
  });
}

function spansOf(table: string): Spans {
  const takeTouching = query(
    `DELETE FROM ${table}
     WHERE symbol = ?1 AND source = ?2 AND start_date <= date(?4, '+1 day') AND end_date >= date(?3, '-1 day')
     RETURNING start_date, end_date`,
    [text, text],
  );
  const within = query(
    `SELECT symbol, start_date AS startDate, end_date AS endDate FROM ${table}
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND end_date >= ?2 AND start_date <= ?3 ORDER BY symbol, start_date`,
    { symbol: text, startDate: text, endDate: text },
  );
  return {
    add(database, { symbol, startDate, endDate }, { source, recordedAt }) {
      const touching = takeTouching.all(database, symbol, source, startDate, endDate);
      const start = touching.reduce((least, [first]) => (first < least ? first : least), startDate);
      const end = touching.reduce((most, [, last]) => (last > most ? last : most), endDate);
      database
        .statement(
          `INSERT INTO ${table} (symbol, source, start_date, end_date, recorded_at) VALUES (?, ?, ?, ?, ?)`,
        )
        .run(symbol, source, start, end, recordedAt);
    },
    between: (reader, symbols, { from, to }) =>
      within.all(reader, JSON.stringify(symbols), from, to),
  };
}

/**
 * The spans in which a source's bars are known: a missing one means that the symbol did not trade.
 */
export const priceSpans = spansOf('price_data_coverage');
/** The spans in which a source's dividends are known: an ex-date without a row has none. */
export const dividendSpans = spansOf('dividend_coverage');
/** The spans in which a source's splits are known: a date without a row has none. */
export const splitSpans = spansOf('stock_split_spans');
