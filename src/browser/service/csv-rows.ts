/** A cell, quoted or not, and what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;

/**
 * The rows of CSV as this server sends it (RFC 4180), after its header; each has its cells by the
 * names of their columns.
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
