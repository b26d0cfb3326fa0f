import type { CalendarDate } from '../../calendar.ts';
import type { PriceSource } from '../../database/prices.ts';
import { ServiceError } from '../../domain.ts';
import { type PriceFile, type RawBar, type Row, checkBar } from './bar.ts';
import { type Header, dashedDate, rowsOfCells, splitRow, symbolFromName } from './cells.ts';
import { intradayBars, notDaily } from './intraday.ts';
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
/** Tushare's own names; its volume is in lots. */
const TUSHARE_NAMES = new Map<string, keyof RawBar>([
  ['ts_code', 'symbol'],
  ['trade_date', 'date'],
]);
const SHARES_PER_LOT = 100;
/** Columns with the date and the time of a bar; daily files have none. */
const STAMP_NAMES = ['timestamp', 'datetime', 'trade_time'];
/** The columns of a control market's `prices.csv`. Its bars name their source, so that they count as adjusted for splits. */
export const DISGUISE_COLUMNS = ['symbol', 'date', 'open', 'high', 'low', 'close', 'volume', 'source'];
const DISGUISE = 'disguise';
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

/** Reads a CSV file of prices. Throws a `ServiceError` when its first lines are not a header of daily prices and such rows. */
export function readCsv(
  batches: AsyncIterator<LineBatch>,
  header: Header,
  { path, today }: { path: string; today: CalendarDate },
): PriceFile {
  const layout = readLayout(header, path);
  return { kind: 'prices', format: layout.format, source: layout.source, rows: rowsOf(batches, header.rest, { layout, today }) };
}

function readLayout(header: Header, path: string): Layout {
  const { line, names, separator, rest } = header;
  const isTushare = [...TUSHARE_NAMES.keys()].every((name) => names.includes(name));
  const columns = { symbol: -1, date: -1, open: -1, high: -1, low: -1, close: -1, volume: -1 };
  names.forEach((name, index) => {
    const field = (isTushare ? TUSHARE_NAMES.get(name) : undefined) ?? COLUMN_NAMES.get(name);
    if (field === undefined) return;
    if (columns[field] !== -1) throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    columns[field] = index;
  });
  refuseIntraday(header, columns);
  const missing = (['date', 'open'] as const).filter((field) => columns[field] === -1);
  if (missing.length > 0)
    throw new ServiceError('invalid_file', `it is not JSON, and as CSV its header lacks ${missing.join(', ')}`);
  const sourceColumn = names.indexOf('source');
  const firstRow = rest.lines.find((text) => text.trim() !== '') ?? '';
  const isControl = isDisguised(splitRow(firstRow.trim(), separator)[sourceColumn]);
  const kind = isControl ? { format: 'control market CSV', source: DISGUISE } as const : kindOf(line, { names, isTushare });
  return { ...kind, separator, columns, sourceColumn, width: names.length, symbol: symbolFromName(path) };
}

/** Looks at the rows that were read with the header. */
function refuseIntraday({ names, separator, rest }: Header, { symbol, date, open }: Layout['columns']): void {
  const time = names.indexOf('time');
  const stamp = date === -1 ? names.findIndex((name) => STAMP_NAMES.includes(name)) : date;
  if (open === -1 || stamp === -1) return;
  const stamps = rowsOfCells(rest, separator).map(({ cells }) => ({
    symbol: cells[symbol] ?? '',
    text: [cells[stamp], cells[time]].filter((text) => text !== undefined).join(' '),
  }));
  const bars = intradayBars(stamps, { isTimeBeside: time !== -1 });
  if (bars !== null) throw notDaily(bars);
}

function isDisguised(source: string | undefined): boolean {
  return source?.trim() === DISGUISE;
}

function kindOf(
  header: string,
  { names, isTushare }: { names: readonly string[]; isTushare: boolean },
): { format: string; source: PriceSource } {
  if (isTushare) return { format: 'Tushare CSV', source: 'tushare' };
  if (names.includes('adj close')) return { format: 'Yahoo CSV', source: 'yahoo' };
  if (header === STOOQ_HEADER || names.includes('openint')) return { format: 'Stooq CSV', source: 'stooq' };
  return { format: 'CSV', source: 'csv' };
}

async function* rowsOf(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  { layout, today }: { layout: Layout; today: CalendarDate },
): AsyncGenerator<Iterable<Row>> {
  for await (const batch of startingWith(first, batches))
    yield rowsOfCells(batch, layout.separator).map(({ line, text, cells }) => ({ line, ...readRow(cells, { text, layout, today }) }));
}

function readRow(
  cells: readonly string[],
  { text, layout, today }: { text: string; layout: Layout; today: CalendarDate },
): ReturnType<typeof checkBar> {
  const { columns, sourceColumn, source } = layout;
  if (cells.length !== layout.width)
    return { defect: { reason: `not ${layout.width} columns`, value: text.slice(0, 60) } };
  if (isDisguised(cells[sourceColumn]) !== (source === DISGUISE))
    return { defect: { reason: 'bars of a control market and others in one file', value: cells[sourceColumn] ?? '' } };
  const symbol = columns.symbol === -1 ? layout.symbol : cells[columns.symbol];
  const volume = cells[columns.volume];
  const raw: RawBar = {
    symbol: source === 'stooq' ? symbol?.replace(/\.US$/i, '') : symbol,
    date: dashedDate(cells[columns.date]),
    open: cells[columns.open],
    high: cells[columns.high],
    low: cells[columns.low],
    close: cells[columns.close],
    volume: source === 'tushare' ? sharesOf(volume) : volume,
  };
  return checkBar(raw, today);
}

/** Lots with decimals as whole shares; other text is left as it is and refused later. */
function sharesOf(lots: string | undefined): string | undefined {
  const shares = lots?.trim() ? Math.round(Number(lots) * SHARES_PER_LOT) : NaN;
  return Number.isNaN(shares) ? lots : String(shares);
}
