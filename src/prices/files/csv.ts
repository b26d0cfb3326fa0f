import { ServiceError } from '../../basics/domain.ts';
import {
  type Actions,
  checkBar,
  type Defect,
  isAbsent,
  type PriceFile,
  type RawBar,
  refuse,
  type Row,
} from './bar.ts';
import {
  dashedDate,
  type Header,
  isNamedByStooq,
  type LineBatch,
  rowsOfCells,
  splitRow,
  startingWith,
  symbolFromName,
} from './lines.ts';
import type { CalendarDate } from '../../basics/calendar.ts';
import type { Bar, PriceSource } from '../../database/prices.ts';
import { cashOf, ratioOf } from '../provider.ts';
import { intradayBars, notDaily } from './yahoo-chart.ts';

/** What the columns of a CSV file of prices are called. */

export type Field = keyof RawBar | 'dividend' | 'split';
/** The position of each field in a row; -1 where the file has no such column. */
export type Columns = Record<Field, number>;

/**
 * Names as `squeezed` leaves them; where a file has several of one field, the first of these
 * counts.
 */
const NAMES: Record<Field, readonly string[]> = {
  symbol: [
    'symbol',
    'ticker',
    'symbolticker',
    'tickersymbol',
    'actsymbol',
    'tscode',
    'tic',
    'code',
    'name',
  ],
  date: ['date', 'tradedate', 'timestamp', 'datetime', 'tradetime', 'windowstart'],
  open: ['open'],
  high: ['high'],
  low: ['low'],
  close: ['close', 'closelast', 'price', 'last'],
  volume: ['volume', 'vol'],
  dividend: ['dividends', 'dividend', 'dividendamount', 'divcash'],
  split: ['stocksplits', 'splitcoefficient', 'splitfactor'],
};
/** Other columns of known formats: none of them is the symbol. */
const OTHER_NAMES = [
  '',
  'adjclose',
  'adjustedclose',
  'openint',
  'per',
  'time',
  'change',
  'capitalgains',
  'vwap',
  'source',
];
const MAX_NAMED_LENGTH = 200;

/**
 * A name of a column without capitals, blanks and signs: `adjclose` for `Adj Close`, `Adj_Close`
 * and `AdjClose`.
 */
function squeezed(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Finds the columns by their names. Throws a `ServiceError` where two columns have one name. */
export function columnsOf({ names }: Header): Columns {
  const known = names.map(squeezed);
  const positions = Object.entries(NAMES).map(([field, candidates]) => {
    const name = candidates.find((candidate) => known.includes(candidate));
    const position = name === undefined ? -1 : known.indexOf(name);
    if (name !== undefined && known.lastIndexOf(name) !== position)
      throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    return [field, position];
  });
  return Object.fromEntries(positions) as Columns;
}

/** Whether a header has a column that may be the symbol under an unknown name. */
function hasUnknownColumns({ names }: Header): boolean {
  const known = new Set([...Object.values(NAMES).flat(), ...OTHER_NAMES]);
  return names.some((name) => !known.has(squeezed(name)));
}

/** The columns as the file spells them. */
export function spelled({ line, separator }: Header): string {
  const names = splitRow(line, separator)
    .map((name) => name.trim())
    .join(', ');
  return names.length > MAX_NAMED_LENGTH ? `${names.slice(0, MAX_NAMED_LENGTH)}…` : names;
}

/**
 * CSV with a header and columns in any order. Some formats tell what their prices are; no header's
 * capitals do.
 */

const SHARES_PER_LOT = 100;
/**
 * The columns of a control market's `prices.csv`. Its bars name their source, so that they count as
 * adjusted for splits.
 */
export const DISGUISE_COLUMNS = [
  'symbol',
  'date',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'source',
];
const DISGUISE = 'disguise';

interface Layout {
  format: string;
  source: PriceSource | null;
  separator: string;
  columns: Columns;
  /** The position of the column `source`; -1 where the file has no such column. */
  sourceColumn: number;
  width: number;
  /** For files without a symbol column. */
  symbol: string;
  /** Writes a date of this file as `YYYY-MM-DD`, where it is one. */
  dateOf: (text: string | undefined) => string | undefined;
}

/**
 * Reads a CSV file of prices. Throws a `ServiceError` when its first lines are not a header of
 * daily prices and such rows.
 */
export function readCsv(
  batches: AsyncIterator<LineBatch>,
  header: Header,
  { path, today }: { path: string; today: CalendarDate },
): PriceFile {
  const layout = readLayout(header, path);
  const mayHideSymbol = layout.columns.symbol === -1 && hasUnknownColumns(header);
  return {
    kind: 'prices',
    format: layout.format,
    source: layout.source,
    header: { columns: spelled(header), mayHideSymbol },
    rows: rowsOf(batches, header.rest, { layout, today }),
  };
}

function readLayout(header: Header, path: string): Layout {
  const { names, separator, rest } = header;
  const columns = columnsOf(header);
  refuseIntraday(header, columns);
  const missing = (['date', 'open'] as const).filter((field) => columns[field] === -1);
  if (missing.length > 0)
    throw new ServiceError(
      'invalid_file',
      `it is not JSON, and as CSV its header lacks ${missing.join(', ')}`,
    );
  if (columns.close === -1)
    throw new ServiceError('invalid_file', `it has no close; its columns are ${spelled(header)}`);
  const sourceColumn = names.indexOf('source');
  const firstRow = rest.lines.find((text) => text.trim() !== '') ?? '';
  const isControl = isDisguised(splitRow(firstRow.trim(), separator)[sourceColumn]);
  const kind = isControl
    ? ({ format: 'control market CSV', source: DISGUISE } as const)
    : kindOf(names.map(squeezed), path);
  const dateOf = dateReaderOf(names.map(squeezed));
  return {
    ...kind,
    separator,
    columns,
    sourceColumn,
    width: names.length,
    symbol: symbolFromName(path),
    dateOf,
  };
}

/** Looks at the rows that were read with the header. */
function refuseIntraday({ names, separator, rest }: Header, { symbol, date, open }: Columns): void {
  const time = names.indexOf('time');
  if (open === -1 || date === -1) return;
  const stamps = rowsOfCells(rest, separator).map(({ cells }) => ({
    symbol: cells[symbol] ?? '',
    text: [cells[date], cells[time]].filter((text) => text !== undefined).join(' '),
  }));
  const bars = intradayBars(stamps, { isTimeBeside: time !== -1 });
  if (bars !== null) throw notDaily(bars);
}

function isDisguised(source: string | undefined): boolean {
  return source?.trim() === DISGUISE;
}

/** The formats whose prices mean one thing, by columns that no other has. */
function kindOf(
  names: readonly string[],
  path: string,
): { format: string; source: PriceSource | null } {
  const has = (...wanted: string[]) => wanted.every((name) => names.includes(name));
  if (has('tscode', 'tradedate')) return { format: 'Tushare CSV', source: 'tushare' };
  if (has('adjustedclose', 'splitcoefficient'))
    return { format: 'Alpha Vantage CSV', source: 'alpha-vantage' };
  if (has('windowstart', 'transactions')) return { format: 'Massive CSV', source: 'massive' };
  // Tiingo has every price twice: as it traded, and adjusted.
  if (has('adjclose', 'adjopen')) return { format: 'Tiingo CSV', source: 'csv' };
  if (has('adjclose')) return { format: 'Yahoo CSV', source: 'yahoo' };
  if (has('openint') || isNamedByStooq(path)) return { format: 'Stooq CSV', source: 'stooq' };
  return { format: 'CSV', source: null };
}

function dateReaderOf(names: readonly string[]): Layout['dateOf'] {
  if (names.includes('windowstart')) return (text) => dayOfNanoseconds(text) ?? dashedDate(text);
  // Nasdaq's files, which are American.
  if (names.includes('closelast'))
    return (text) => text?.trim().replace(/^(\d\d)\/(\d\d)\/(\d{4})$/, '$3-$1-$2');
  return dashedDate;
}

/** Massive's files have the start of a day in New York, in nanoseconds. */
function dayOfNanoseconds(text: string | undefined): string | undefined {
  return /^\d{19}$/.test(text ?? '')
    ? new Date(Number(text?.slice(0, -6))).toISOString()
    : undefined;
}

async function* rowsOf(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  { layout, today }: { layout: Layout; today: CalendarDate },
): AsyncGenerator<Iterable<Row>> {
  for await (const batch of startingWith(first, batches))
    yield rowsOfCells(batch, layout.separator).map(({ line, text, cells }) => ({
      line,
      ...readRow(cells, { text, layout, today }),
    }));
}

function readRow(
  cells: readonly string[],
  { text, layout, today }: { text: string; layout: Layout; today: CalendarDate },
):
  | { bar: Bar; actions?: Actions; defect?: never }
  | { defect: Defect; bar?: never; actions?: never } {
  const { columns, sourceColumn, source } = layout;
  if (cells.length !== layout.width)
    return { defect: { reason: `not ${layout.width} columns`, value: text.slice(0, 60) } };
  if (isDisguised(cells[sourceColumn]) !== (source === DISGUISE))
    return {
      defect: {
        reason: 'bars of a control market and others in one file',
        value: cells[sourceColumn] ?? '',
      },
    };
  const symbol = columns.symbol === -1 ? layout.symbol : cells[columns.symbol];
  const volume = cells[columns.volume];
  const raw: RawBar = {
    symbol: source === 'stooq' ? symbol?.replace(/\.US$/i, '') : symbol,
    date: layout.dateOf(cells[columns.date]),
    open: cells[columns.open],
    high: cells[columns.high],
    low: cells[columns.low],
    close: cells[columns.close],
    volume: source === 'tushare' ? sharesOf(volume) : volume,
  };
  const { bar, defect } = checkBar(raw, today);
  if (defect !== undefined) return { defect };
  if (columns.dividend === -1 && columns.split === -1) return { bar };
  const read = readActions(cells, columns);
  return 'defect' in read ? read : { bar, ...read };
}

/** The dividend and the split of a row. */
function readActions(
  cells: readonly string[],
  columns: Columns,
): { actions: Actions } | ReturnType<typeof refuse> {
  const actions: Actions = {};
  const [dividend, split] = [cells[columns.dividend]?.trim(), cells[columns.split]?.trim()];
  if (dividend !== undefined) {
    actions.dividend = isAbsent(dividend) ? null : Number(dividend) === 0 ? 0 : cashOf(dividend);
    if (actions.dividend === null && !isAbsent(dividend))
      return refuse('dividend is not a plausible number', dividend);
  }
  if (split !== undefined) {
    // yfinance writes 0 on days without a split, others 1.
    const isNone = Number(split) === 0 || Number(split) === 1;
    actions.split = isAbsent(split)
      ? null
      : isNone
        ? { numerator: 1, denominator: 1 }
        : ratioOf(split, '1');
    if (actions.split === null && !isAbsent(split))
      return refuse('split is not a plausible ratio', split);
  }
  return { actions };
}

/** Lots with decimals as whole shares; other text is left as it is and refused later. */
function sharesOf(lots: string | undefined): string | undefined {
  const shares = lots?.trim() ? Math.round(Number(lots) * SHARES_PER_LOT) : NaN;
  return Number.isNaN(shares) ? lots : String(shares);
}
