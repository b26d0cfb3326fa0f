import { invalidFile } from '#domain/service-error.ts';
import {
  HEADER_LINES,
  type LineBatch,
  type Lines,
  findSeparator,
  splitRow,
  takeLines,
} from './lines.ts';
import type { Defect } from '#prices/row.ts';

/**
 * Tables as yfinance makes them, with a column for each symbol and field: two lines name both, in
 * either order, and a third the column of dates, unless that is named in the first, perhaps after a
 * column that numbers the rows. They are read as tables with a row for each symbol and date.
 */

const DATES = /^date(time)?$/i;
/** Above the numbers of the rows, beside the dates. */
const CORNER = /^(price|ticker)?$/i;
/** With adjusted prices, only symbols that failed have one, an empty one. */
const ADJUSTED = /^adj/i;

/**
 * A table as it is, or with a row for each symbol and date, at the line where it is from; symbols
 * without any are refused at its end.
 */
export function toLongRows(
  lines: Lines,
  onRefused?: (line: number, defect: Defect) => void,
): Lines {
  const { first, batches } = lines;
  const separator = findSeparator(first.lines[0] ?? '');
  const splitLine = (line = '') => splitRow(line.replace(/\r$/, ''), separator);
  const [[, name = ''], [corner = '', blank]] = [
    splitLine(first.lines[0]),
    splitLine(first.lines[1]),
  ];
  const isNumbered = DATES.test(name) && CORNER.test(corner) && blank === '';
  const splitCells = (line?: string) => splitLine(line).slice(isNumbered ? 1 : 0);
  const [one, two, three] = [0, 1, 2].map((index) => splitCells(first.lines[index])) as [
    one: string[],
    two: string[],
    three: string[],
  ];
  const hasThree = DATES.test(three[0] ?? '') && three.slice(1).every((cell) => cell === '');
  const hasTwo = DATES.test(one[0] ?? '') && two[0] === '';
  const [fields, symbols] = hasPriceFields(one) ? [one, two] : [two, one];
  const bySymbol = Map.groupBy(fields.keys().drop(1), (place) => symbols[place] ?? '');
  const isWhole = ([symbol, places]: [string, number[]]) =>
    Number.isNaN(Number(symbol)) && hasPriceFields(places.map((place) => fields[place] ?? ''));
  const isWide = hasPriceFields(fields) && one.length === two.length && (hasThree || hasTwo);
  // Else it may be a first row without a date.
  if (!isWide || ![...bySymbol].every(isWhole)) return lines;
  const columnsByName = Map.groupBy(fields.keys(), (at) => `${symbols[at]} ${fields[at]}`);
  const [twice] = [...columnsByName].find(([, columns]) => columns.length > 1) ?? [];
  if (twice !== undefined) throw invalidFile(`its header has two columns for ${twice}`);
  const names = [...Map.groupBy(fields.slice(1), (field) => field)].flatMap(([name, all]) =>
    ADJUSTED.test(name) && all.length < bySymbol.size ? [] : name,
  );
  const rows = [...bySymbol].map(([symbol, places]) => {
    const columns = names.map((name) => places.find((place) => fields[place] === name) ?? -1);
    return { symbol, columns };
  });
  const unseen = new Set(bySymbol.keys());
  const { firstLine: headerLine } = first;
  takeLines(first, hasThree ? HEADER_LINES : HEADER_LINES - 1);
  async function* long(): AsyncGenerator<LineBatch> {
    for await (const batch of batches)
      for (const [index, line] of batch.lines.entries()) {
        const firstLine = batch.firstLine + index;
        const cells = splitCells(line);
        if (cells.length !== fields.length) yield { firstLine, lines: [cells.join(separator)] };
        else
          for (const { symbol, columns } of rows) {
            const row = columns.map((column) => cells[column] ?? '');
            if (row.every((cell) => cell === '')) continue;
            unseen.delete(symbol);
            yield { firstLine, lines: [[symbol, cells[0], ...row].join(separator)] };
          }
      }
    for (const value of unseen)
      onRefused?.(headerLine, { reason: 'a symbol without a price', value });
  }
  const header = ['Symbol', 'Date', ...names].join(separator);
  return { first: { ...first, lines: [header] }, batches: long() };
}

function hasPriceFields(cells: readonly string[]): boolean {
  return ['open', 'close'].every((name) => cells.some((cell) => cell.toLowerCase() === name));
}
