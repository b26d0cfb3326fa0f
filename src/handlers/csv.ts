import * as v from 'valibot';
import { type Cell, csvLine } from '../csv-line.ts';
import type { Table } from './handler.ts';

/**
 * `format=csv` in the query has the effect of `Accept: text/csv`, for clients that cannot set
 * headers.
 */
export const formatQuery = {
  format: v.optional(
    v.pipe(
      v.picklist(['json', 'csv'], 'expected json or csv'),
      v.description('The format of the response; if absent, the Accept header decides.'),
    ),
  ),
};

/**
 * A response as CSV (RFC 4180) with a header line, row by row as they are read; each row has a cell
 * per column. A null instead of a row lets other work run.
 */
export function csvTable(
  fileName: string,
  columns: readonly string[],
  rows: Iterable<readonly Cell[] | null>,
): Table {
  return { fileName, lines: csvLines(columns, rows) };
}

function* csvLines(
  columns: readonly string[],
  rows: Iterable<readonly Cell[] | null>,
): Generator<string> {
  yield csvLine(columns);
  for (const row of rows) yield row === null ? '' : csvLine(row);
}
