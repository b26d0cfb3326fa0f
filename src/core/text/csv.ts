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

/** A cell, quoted or not, and what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;

/**
 * The rows of CSV as `csvLine` writes it, after a header; each has its cells by the names of their
 * columns.
 */
export function csvRows(text: string): Record<string, string>[] {
  const rows: string[][] = [];
  let row: string[] = [];
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length) {
    const [, quoted, plain = '', end] = CELL.exec(text) ?? [];
    if (end === undefined) throw new Error('Cannot read the table: it is not CSV');
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  const [columns = [], ...cells] = rows;
  return cells.map((own) =>
    Object.fromEntries(columns.map((column, place) => [column, own[place] ?? ''])),
  );
}
