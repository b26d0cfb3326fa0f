import assert from 'node:assert/strict';
import type { CalendarDate } from '../calendar.ts';
import type { Bar } from '../database/prices.ts';

/** Bars that wait to be stored: numbers in columns and each text once, a fraction of the memory of as many objects. */
export interface BarBatch {
  readonly size: number;
  add(bar: Bar): void;
  /**
   * Empties the batch and returns its bars by symbol and date, as the table has them: from a file by date, each bar would change
   * another page of the database. Of bars of one symbol and date, the one added last is still the last.
   */
  take(): Generator<Bar>;
}

/** An empty batch. */
export function createBarBatch(): BarBatch {
  let columns = emptyColumns();
  return {
    get size() {
      return columns.dates.length;
    },
    add({ symbol, date, open, high, low, close, volume }) {
      const rows = columns.rowsOf.get(symbol);
      if (rows === undefined) columns.rowsOf.set(symbol, [columns.dates.length]);
      else rows.push(columns.dates.length);
      columns.dates.push(oneOf(columns.knownDates, date));
      columns.opens.push(open);
      columns.highs.push(high ?? NaN);
      columns.lows.push(low ?? NaN);
      columns.closes.push(close ?? NaN);
      columns.volumes.push(volume ?? NaN);
    },
    take() {
      const taken = columns;
      columns = emptyColumns();
      return barsOf(taken);
    },
  };
}

interface Columns {
  /** The rows of each symbol, in the order in which they were added. */
  rowsOf: Map<string, number[]>;
  knownDates: Map<string, string>;
  dates: CalendarDate[];
  opens: number[];
  /** These and the rest are NaN where a bar has null. */
  highs: number[];
  lows: number[];
  closes: number[];
  volumes: number[];
}

function emptyColumns(): Columns {
  return { rowsOf: new Map(), knownDates: new Map(), dates: [], opens: [], highs: [], lows: [], closes: [], volumes: [] };
}

/** The first text that was equal to this one, so that the others need no memory. */
function oneOf(known: Map<string, string>, text: string): string {
  const first = known.get(text);
  if (first === undefined) known.set(text, text);
  return first ?? text;
}

function* barsOf({ rowsOf, dates, opens, highs, lows, closes, volumes }: Columns): Generator<Bar> {
  for (const symbol of [...rowsOf.keys()].sort()) {
    for (const row of inOrderOf(dates, rowsOf.get(symbol) ?? [])) {
      const [date, open] = [dates[row], opens[row]];
      assert(date !== undefined && open !== undefined, 'every row has a date and an open');
      yield { symbol, date, open, high: known(highs[row]), low: known(lows[row]), close: known(closes[row]), volume: known(volumes[row]) };
    }
  }
}

/** By date; rows of the same date keep their order. */
function inOrderOf(dates: readonly CalendarDate[], rows: readonly number[]): number[] {
  const dateOf = (row: number) => dates[row] ?? '';
  return rows.toSorted((one, other) => (dateOf(one) < dateOf(other) ? -1 : dateOf(one) > dateOf(other) ? 1 : 0));
}

function known(number: number | undefined): number | null {
  return number === undefined || Number.isNaN(number) ? null : number;
}
