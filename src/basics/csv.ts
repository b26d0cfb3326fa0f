/** The value of a cell; null leaves it empty. */
export type Cell = string | number | boolean | null;

const LINE_END = '\r\n';
/** The beginning of text that a spreadsheet would run as a formula. */
const FORMULA_START = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * A line of CSV (RFC 4180) with its end, the same from the server and from its pages. Numbers stay
 * numbers, even negative ones. Text that a spreadsheet would run as a formula gets a leading
 * apostrophe, which marks it as text.
 */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',') + LINE_END;
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
