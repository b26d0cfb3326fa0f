import * as v from 'valibot';
import type { Table } from './handler.ts';

/** The value of a cell; null leaves it empty. */
export type Cell = string | number | boolean | null;

const LINE_END = '\r\n';
/** The beginning of text that a spreadsheet would run as a formula. */
const FORMULA_START = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** `format=csv` in the query has the effect of `Accept: text/csv`, for clients that cannot set headers. */
export const formatQuery = {
  format: v.optional(
    v.pipe(
      v.picklist(['json', 'csv'], 'expected json or csv'),
      v.description('The format of the response; if absent, the Accept header decides.'),
    ),
  ),
};

/**
 * A response as CSV (RFC 4180) with a header line, row by row as they are read; each row has a cell per column. A null
 * instead of a row lets other work run.
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
 * Numbers stay numbers, even negative ones. Text that a spreadsheet would run as a formula gets a leading apostrophe, which
 * marks it as text.
 */
function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
