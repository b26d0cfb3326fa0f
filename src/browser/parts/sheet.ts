import { type Cell, csvLine } from '../../csv-line.ts';

/** A table for a file: its columns, and a cell per column in each row. */
export interface Sheet {
  columns: readonly string[];
  rows: Iterable<readonly Cell[]>;
}

/** Excel takes a file without it for one in an old encoding. */
const BYTE_ORDER_MARK = '\ufeff';
const MAX_NAME_LENGTH = 60;

/** The text of a table as a CSV file. */
export function csvOf({ columns, rows }: Sheet): string {
  const lines = [csvLine(columns)];
  for (const row of rows) lines.push(csvLine(row));
  return BYTE_ORDER_MARK + lines.join('');
}

/** A caption as the name of a file: letters and digits of any script, joined by hyphens. */
export function fileName(caption: string): string {
  const words = caption.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['table'];
  return [...words.join('-')].slice(0, MAX_NAME_LENGTH).join('');
}
