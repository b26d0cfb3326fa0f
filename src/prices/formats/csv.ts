import { basename, extname } from 'node:path';
import type { CalendarDate } from '../../calendar.ts';
import type { PriceSource } from '../../database/prices.ts';
import { ServiceError } from '../../domain.ts';
import { type ParsedFile, type RawBar, type Row, checkBar } from './bar.ts';
import { type LineBatch, startingWith } from './lines.ts';

/** CSV with a header and columns in any order, including Yahoo's and Stooq's headers, whose prices are split-adjusted. */

const COLUMN_NAMES = new Map<string, keyof RawBar>([
  ['symbol', 'symbol'],
  ['ticker', 'symbol'],
  ['code', 'symbol'],
  ['date', 'date'],
  ['open', 'open'],
  ['high', 'high'],
  ['low', 'low'],
  ['close', 'close'],
  ['volume', 'volume'],
  ['vol', 'volume'],
]);
/** The columns of a control market's `prices.csv`. Its bars name their source, so that they count as adjusted for splits. */
export const DISGUISE_COLUMNS = ['symbol', 'date', 'open', 'high', 'low', 'close', 'volume', 'source'];
const DISGUISE = 'disguise';
const SEPARATORS = [',', ';', '\t'];
const STOOQ_HEADER = 'Date,Open,High,Low,Close,Volume';

interface Layout {
  format: string;
  source: PriceSource;
  separator: string;
  /** The position of each field in a row; -1 where the file has no such column. */
  columns: Record<keyof RawBar, number>;
  /** The position of the column `source`; -1 where the file has no such column. */
  sourceColumn: number;
  width: number;
  /** For files without a symbol column. */
  symbol: string;
}

/** Reads a CSV file. Throws a `ServiceError` when its first line is not a header of daily prices. */
export function readCsv(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  { path, today }: { path: string; today: CalendarDate },
): ParsedFile {
  const headerIndex = first.lines.findIndex((line) => line.trim() !== '');
  const header = (first.lines[headerIndex] ?? '').trim();
  const firstRow = first.lines.slice(headerIndex + 1).find((line) => line.trim() !== '') ?? '';
  const layout = readHeader(header, { path, firstRow });
  const rest = { ...first, firstLine: first.firstLine + headerIndex + 1, lines: first.lines.slice(headerIndex + 1) };
  return { format: layout.format, source: layout.source, rows: rowsOf(batches, rest, { layout, today }) };
}

function readHeader(header: string, { path, firstRow }: { path: string; firstRow: string }): Layout {
  const separator = SEPARATORS.find((candidate) => header.includes(candidate)) ?? ',';
  const names = splitRow(header, separator).map((name) => name.trim().toLowerCase().replace(/^<|>$/g, ''));
  const columns = { symbol: -1, date: -1, open: -1, high: -1, low: -1, close: -1, volume: -1 };
  names.forEach((name, index) => {
    const field = COLUMN_NAMES.get(name);
    if (field === undefined) return;
    if (columns[field] !== -1) throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    columns[field] = index;
  });
  const missing = (['date', 'open'] as const).filter((field) => columns[field] === -1);
  if (missing.length > 0)
    throw new ServiceError('invalid_file', `it is not JSON, and as CSV its header lacks ${missing.join(', ')}`);
  const sourceColumn = names.indexOf('source');
  const isControl = isDisguised(splitRow(firstRow.trim(), separator)[sourceColumn]);
  const kind = isControl ? { format: 'control market CSV', source: DISGUISE } as const : kindOf(header, names);
  return { ...kind, separator, columns, sourceColumn, width: names.length, symbol: symbolFromName(path) };
}

function isDisguised(source: string | undefined): boolean {
  return source?.trim() === DISGUISE;
}

function kindOf(header: string, names: readonly string[]): { format: string; source: PriceSource } {
  if (names.includes('adj close')) return { format: 'Yahoo CSV', source: 'yahoo' };
  if (header === STOOQ_HEADER || names.includes('openint')) return { format: 'Stooq CSV', source: 'stooq' };
  return { format: 'CSV', source: 'csv' };
}

async function* rowsOf(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  options: { layout: Layout; today: CalendarDate },
): AsyncGenerator<Row[]> {
  for await (const batch of startingWith(first, batches)) {
    const rows: Row[] = [];
    for (const [index, line] of batch.lines.entries()) {
      if (line !== '' && line !== '\r') rows.push(rowOf(line, batch.firstLine + index, options));
    }
    yield rows;
  }
}

function rowOf(text: string, line: number, { layout, today }: { layout: Layout; today: CalendarDate }): Row {
  const { columns, sourceColumn, source } = layout;
  const cells = splitRow(text.endsWith('\r') ? text.slice(0, -1) : text, layout.separator);
  if (cells.length !== layout.width)
    return { line, refusal: { reason: `not ${layout.width} columns`, value: text.slice(0, 60) } };
  if (isDisguised(cells[sourceColumn]) !== (source === DISGUISE))
    return { line, refusal: { reason: 'bars of a control market and others in one file', value: cells[sourceColumn] ?? '' } };
  const symbol = columns.symbol === -1 ? layout.symbol : cells[columns.symbol];
  const date = cells[columns.date];
  const raw: RawBar = {
    symbol: source === 'stooq' ? symbol?.replace(/\.US$/i, '') : symbol,
    date: date?.length === 8 ? date.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3') : date,
    open: cells[columns.open],
    high: cells[columns.high],
    low: cells[columns.low],
    close: cells[columns.close],
    volume: cells[columns.volume],
  };
  return { line, ...checkBar(raw, today) };
}

/** The cells of one row; quoted ones may contain the separator and doubled quotes. */
function splitRow(row: string, separator: string): string[] {
  if (!row.includes('"')) return row.split(separator);
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let index = 0; index < row.length; index += 1) {
    const character = row.charAt(index);
    if (character === '"' && quoted && row[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  return [...cells, cell];
}

/** `AAPL.csv`, `600519.SH.csv`, Stooq's `aapl_us_d.csv`. */
function symbolFromName(path: string): string {
  return basename(path, extname(path)).replace(/_us_d$/i, '');
}
