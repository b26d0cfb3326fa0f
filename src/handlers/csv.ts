import * as v from 'valibot';
import type { Table } from './handler.ts';

/** What a cell can hold; null is an empty one. */
export type Cell = string | number | boolean | null;

const LINE_END = '\r\n';
/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA_START = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** `format=csv` in the query does what `Accept: text/csv` does, for whoever cannot set headers. */
export const formatQuery = {
  format: v.optional(
    v.pipe(
      v.picklist(['json', 'csv'], 'expected json or csv'),
      v.description('The form of the answer; without it the Accept header says which.'),
    ),
  ),
};

/**
 * An answer as CSV (RFC 4180) with a header line, row by row as they are read; each row has a cell per column. A null is
 * no row: others may have their turn there.
 */
export function csvTable(fileName: string, columns: readonly string[], rows: Iterable<readonly Cell[] | null>): Table {
  return { fileName, lines: csvLines(columns, rows) };
}

function* csvLines(columns: readonly string[], rows: Iterable<readonly Cell[] | null>): Generator<string> {
  yield csvLine(columns);
  for (const row of rows) yield row === null ? '' : csvLine(row);
}

function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',') + LINE_END;
}

/**
 * Numbers stay numbers, negative ones too. A text that a spreadsheet would run as a formula gets an apostrophe in front,
 * which spreadsheets take as "this is text".
 */
function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
