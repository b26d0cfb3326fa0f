import { invalidFile } from '#domain/service-error.ts';
import { compact } from '#text/sentences.ts';
import { type Field, refuse, type Row, type Table } from '#prices/row.ts';
import {
  readCells,
  dashedDate,
  type Header,
  isNamedByStooq,
  type Lines,
  splitRow,
  symbolFromName,
  takeHeader,
} from './lines.ts';

/**
 * CSV with a header and columns in any order. The columns decide what it is: exchanges; or prices,
 * dividends or splits, in any combination. Some formats tell what their prices are; no header's capitals do.
 */

/** What a column may be: a factor is the new shares for one old one. */
type ColumnField = Field | 'factor';
/** What a row has beside the prices of a day. */
const ACTION_FIELDS = [
  'dividend',
  'currency',
  'numerator',
  'denominator',
  'confirmed',
  'into',
  'remains',
] as const;
/** The position of each field in a row; -1 where the file has no such column. */
type Columns = Record<ColumnField, number>;

const EX_DATES = ['exdate', 'exdividenddate'];
const DIVIDENDS = ['dividends', 'dividend', 'dividendamount', 'divcash'];

/**
 * Names as `takeHeader` leaves them; where a file has several of one field, the first of these
 * counts.
 */
const NAMES: Record<ColumnField, readonly string[]> = {
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
  dividend: DIVIDENDS,
  currency: [],
  factor: ['stocksplits', 'splitcoefficient', 'splitfactor'],
  numerator: ['numerator', 'splitto'],
  denominator: ['denominator', 'splitfrom'],
  confirmed: [],
  into: [],
  remains: [],
};
/** Beside prices, an amount is the turnover. */
const NAMES_WITHOUT_PRICES: typeof NAMES = {
  ...NAMES,
  date: [...EX_DATES, 'executiondate', 'effectivedate', 'date'],
  dividend: ['amount', ...DIVIDENDS],
  currency: ['currency'],
  confirmed: ['confirmed'],
  factor: [],
};
const NAMES_OF_EXCHANGES: typeof NAMES = {
  ...NAMES_WITHOUT_PRICES,
  dividend: ['cash', 'cashpershare'],
  into: ['into'],
  remains: ['remains'],
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

type Layout = ReturnType<typeof readLayout>;

/**
 * Reads a CSV file. Throws a `ServiceError` when its first line is not a header of daily prices, of
 * dividends, of splits or of exchanges.
 */
export function readCsv(lines: Lines, path: string): Table {
  const header = takeHeader(lines);
  const layout = readLayout(header, lines, path);
  const { format, source, hasPrices, hasExchanges, columns } = layout;
  const mayHideSymbol = hasPrices && columns.symbol === -1 && hasUnknownColumns(header);
  return {
    format,
    source,
    hasPrices,
    hasExchanges,
    header: { columns: columnText(header), mayHideSymbol },
    rows: parseRows(lines, layout),
  };
}

function readLayout(header: Header, { first }: Lines, path: string) {
  const { names, separator } = header;
  const columns = findColumns(header);
  const hasPrices = columns.open !== -1;
  const sourceColumn = names.indexOf('source');
  const firstRow = first.lines.find((text) => text.trim() !== '') ?? '';
  const isControl = isDisguised(splitRow(firstRow.trim(), separator)[sourceColumn]);
  const kind: CsvFormat = !hasPrices
    ? actionsFormat(columns)
    : isControl
      ? { format: 'control market CSV', source: DISGUISE }
      : findFormat(names, path);
  return {
    ...kind,
    hasPrices,
    separator,
    columns,
    /** The position of the column `source`; -1 where the file has no such column. */
    sourceColumn,
    /** Whether it has dividends, splits or exchanges. */
    hasActions: !hasPrices || hasDividends(columns) || hasSplits(columns) || columns.factor !== -1,
    width: names.length,
    /** For files without a symbol column. */
    symbol: symbolFromName(path),
    /** Writes a date of this file as `YYYY-MM-DD`, where it is one. */
    dateOf: createDateReader(names),
  };
}

/**
 * Finds the columns by their names. Throws a `ServiceError` where two columns have one name, or
 * where they are neither those of prices nor of dividends, splits or exchanges.
 */
function findColumns(header: Header): Columns {
  const isOfExchanges = ['into', 'remains'].some((name) => header.names.includes(name));
  const columns = findPositions(header, isOfExchanges ? NAMES_OF_EXCHANGES : NAMES);
  const needed: ColumnField[] = isOfExchanges ? ['symbol', 'date'] : ['date', 'open', 'close'];
  const missing = needed.filter((field) => columns[field] === -1);
  if (missing.length === 0) return columns;
  const others = findPositions(header, NAMES_WITHOUT_PRICES);
  const hasNoPrices = columns.open === -1 && columns.close === -1 && others.date !== -1;
  const hasActions = hasSplits(others) || (hasDividends(others) && hasExDate(header));
  if (hasNoPrices && hasActions && !isOfExchanges) return others;
  const lacks = `its header lacks ${missing.join(', ')}`;
  const why = isOfExchanges
    ? `as CSV of exchanges ${lacks}`
    : `it is not JSON, and as CSV of prices ${lacks} (dividends need ex_date and amount,` +
      ' splits date, numerator and denominator, exchanges into or remains)';
  throw invalidFile(`${why}; its columns are ${columnText(header)}`);
}

/** The position of each field by the names that it may have; throws where two columns have one. */
function findPositions({ names }: Header, wanted: typeof NAMES): Columns {
  const entries = Object.entries(wanted).map(([field, candidates]) => {
    const name = candidates.find((candidate) => names.includes(candidate));
    const position = name === undefined ? -1 : names.indexOf(name);
    if (name !== undefined && names.lastIndexOf(name) !== position)
      throw invalidFile(`its header has two columns for ${field}`);
    return [field, position];
  });
  return Object.fromEntries(entries) as Columns;
}

const hasSplits = ({ numerator, denominator }: Columns) => numerator !== -1 && denominator !== -1;
const hasDividends = ({ dividend }: Columns) => dividend !== -1;
const hasExDate = ({ names }: Header) => names.some((name) => EX_DATES.includes(name));

/** Whether a header has a column that may be the symbol under an unknown name. */
function hasUnknownColumns({ names }: Header): boolean {
  const known = new Set([...Object.values(NAMES).flat(), ...OTHER_NAMES]);
  return names.some((name) => !known.has(name));
}

/** The columns as the file spells them. */
function columnText({ line, separator }: Header): string {
  const names = splitRow(line, separator)
    .map((name) => name.trim())
    .join(', ');
  return names.length > MAX_NAMED_LENGTH ? `${names.slice(0, MAX_NAMED_LENGTH)}…` : names;
}

function isDisguised(source: string | undefined): boolean {
  return source?.trim() === DISGUISE;
}

type CsvFormat = Pick<Table, 'format' | 'source' | 'hasExchanges'>;

function actionsFormat(columns: Columns): CsvFormat {
  const hasExchanges = columns.into !== -1 || columns.remains !== -1;
  const what = hasExchanges
    ? ['exchanges']
    : compact([hasDividends(columns) && 'dividends', hasSplits(columns) && 'splits']);
  return { format: `CSV of ${what.join(' and ')}`, source: 'csv', hasExchanges };
}

/** The formats whose prices mean one thing, by columns that no other has. */
function findFormat(names: readonly string[], path: string): CsvFormat {
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

function createDateReader(names: readonly string[]): typeof dashedDate {
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

async function* parseRows({ batches }: Lines, layout: Layout): AsyncGenerator<Row[]> {
  const { separator, width, source, sourceColumn } = layout;
  for await (const batch of batches) {
    const rows: Row[] = [];
    for (const { cells, line, text } of readCells(batch, separator)) {
      const origin = cells[sourceColumn];
      if (cells.length !== width) rows.push({ line, ...refuse(`not ${width} columns`, text) });
      else if (isDisguised(origin) !== (source === DISGUISE))
        rows.push({
          line,
          ...refuse('bars of a control market and others in one file', origin ?? ''),
        });
      else rows.push(parseRow(cells, line, layout));
    }
    yield rows;
  }
}

function parseRow(
  cells: readonly string[],
  line: number,
  { columns, hasActions, source, symbol: fileName, dateOf }: Layout,
): Row {
  const symbol = columns.symbol === -1 ? fileName : cells[columns.symbol];
  const volume = cells[columns.volume];
  const row: Row = {
    line,
    symbol: source === 'stooq' ? symbol?.replace(/\.US$/i, '') : symbol,
    date: dateOf(cells[columns.date]),
    open: cells[columns.open],
    high: cells[columns.high],
    low: cells[columns.low],
    close: cells[columns.close],
    volume: source === 'tushare' ? lotsToShares(volume) : volume,
  };
  if (!hasActions) return row;
  const factor = cells[columns.factor]?.trim();
  if (factor === undefined) {
    for (const field of ACTION_FIELDS) row[field] = cells[columns[field]];
    return row;
  }
  row.dividend = cells[columns.dividend];
  // yfinance writes 0 on days without a split, others 1.
  row.numerator = factor !== '' && Number(factor) === 0 ? '1' : factor;
  row.denominator = '1';
  return row;
}

/** Lots with decimals as whole shares; other text is left as it is and refused later. */
function lotsToShares(lots: string | undefined): string | undefined {
  const shares = lots?.trim() ? Math.round(Number(lots) * SHARES_PER_LOT) : NaN;
  return Number.isNaN(shares) ? lots : String(shares);
}
