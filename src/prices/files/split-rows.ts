import { EARLIEST_DATE, isCalendarDate, isTooEarly } from '../../basics/calendar.ts';
import { normaliseSymbol, ServiceError } from '../../basics/domain.ts';
import { asArray, asObject } from '../../basics/json.ts';
import type { Split } from '../../database/market.ts';
import { ratioOf } from '../provider.ts';
import { dayOf, type Defect, refuse } from './bar.ts';
import {
  dashedDate,
  type Header,
  type LineBatch,
  rowsOfCells,
  startingWith,
  symbolFromName,
} from './lines.ts';

/**
 * Splits as CSV with a header, and as Alpha Vantage and Massive return them: new shares for old
 * ones, from the open of a date on.
 */

/** Factors of Alpha Vantage have four decimals: 0.3333 means a third. */
const FACTOR_TOLERANCE = 0.00005;
const MAX_FACTOR = 10_000;
/** Old shares in a split; the last three take the decimals literally where no small number fits. */
const DENOMINATORS = [...Array.from({ length: 30 }, (_, index) => index + 1), 100, 1_000, 10_000];

/** The fraction of new to old shares that a split factor means; null for an implausible factor. */
export function fractionOf(factor: number): { numerator: number; denominator: number } | null {
  if (!(factor > 0 && factor <= MAX_FACTOR)) return null;
  const inverse = Math.round(1 / factor); // one new share for so many old ones: by far the most common below 1
  for (const denominator of factor < 1 ? [inverse, ...DENOMINATORS] : DENOMINATORS) {
    const numerator = Math.round(factor * denominator);
    if (numerator > 0 && Math.abs(numerator / denominator - factor) <= FACTOR_TOLERANCE)
      return numerator === denominator ? null : { numerator, denominator };
  }
  return null;
}

/** What a CSV of splits says of a date on which there was none. */
const NO_SPLIT = { numerator: 1, denominator: 1 };

/** One row of a file: its place there, and the split or why there is none. */
export type SplitRow = { line: number } & (
  | { split: Split; defect?: never }
  | { defect: Defect; split?: never }
);

/** A file of splits in a known format. */
export interface SplitFile {
  kind: 'splits';
  format: string;
  source: 'csv' | 'alpha-vantage' | 'massive';
  rows: AsyncIterable<readonly SplitRow[]>;
}

interface RawSplit {
  symbol: string | undefined;
  date: string | undefined;
  ratio: Pick<Split, 'numerator' | 'denominator'> | null;
  /** The ratio as the file has it. */
  text: string;
}

function checkedRow({ symbol: name, date: day, ratio, text }: RawSplit, line: number): SplitRow {
  const [symbol, date] = [normaliseSymbol(name ?? ''), dayOf(day)];
  if (symbol === null) return { line, ...refuse('not a ticker symbol', name) };
  if (isTooEarly(date)) return { line, ...refuse(`a date before ${EARLIEST_DATE}`, date) };
  if (!isCalendarDate(date)) return { line, ...refuse('not a date YYYY-MM-DD', date) };
  if (ratio === null) return { line, ...refuse('not a plausible ratio', text) };
  return { line, split: { symbol, date, ...ratio } };
}

const COLUMN_NAMES = new Map([
  ...['symbol', 'ticker'].map((name) => [name, 'symbol'] as const),
  ...['date', 'execution_date', 'effective_date'].map((name) => [name, 'date'] as const),
  ...['numerator', 'split_to'].map((name) => [name, 'numerator'] as const),
  ...['denominator', 'split_from'].map((name) => [name, 'denominator'] as const),
]);

/** Whether a header is that of a file of splits. */
export function namesSplits({ names }: Header): boolean {
  const fields = names.map((name) => COLUMN_NAMES.get(name));
  return fields.includes('numerator') && fields.includes('denominator') && !names.includes('open');
}

/** Reads a CSV file of splits. Throws a `ServiceError` when a column is missing or there twice. */
export function readSplitCsv(
  batches: AsyncIterator<LineBatch>,
  header: Header,
  path: string,
): SplitFile {
  const columns = { symbol: -1, date: -1, numerator: -1, denominator: -1 };
  for (const [index, name] of header.names.entries()) {
    const field = COLUMN_NAMES.get(name);
    if (field === undefined) continue;
    if (columns[field] !== -1)
      throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    columns[field] = index;
  }
  if (columns.date === -1)
    throw new ServiceError('invalid_file', 'its header has splits and lacks date');
  const read = ({
    line,
    text,
    cells,
  }: {
    line: number;
    text: string;
    cells: string[];
  }): SplitRow => {
    const width = header.names.length;
    if (cells.length !== width) return { line, ...refuse(`not ${width} columns`, text) };
    const [to, from] = [cells[columns.numerator] ?? '', cells[columns.denominator] ?? ''];
    const symbol = columns.symbol === -1 ? symbolFromName(path) : cells[columns.symbol];
    const raw = { symbol, date: dashedDate(cells[columns.date]), text: `${to}:${from}` };
    const isNone = Number(to) === 1 && Number(from) === 1;
    const ratio = isNone ? NO_SPLIT : ratioOf(to.trim(), from.trim());
    return checkedRow({ ...raw, ratio }, line);
  };
  const rowsOf = async function* (): AsyncGenerator<SplitRow[]> {
    for await (const batch of startingWith(header.rest, batches))
      yield [...rowsOfCells(batch, header.separator)].map(read);
  };
  return { kind: 'splits', format: 'CSV of splits', source: 'csv', rows: rowsOf() };
}

/** The splits of a response of a provider. */
interface SplitDocument {
  format: string;
  source: 'alpha-vantage' | 'massive';
  splits: RawSplit[];
}

/**
 * The value as a response with splits; null where it is none. Alpha Vantage's looks like its
 * dividends but for the dates; Massive's is one page of any symbols.
 */
export function asSplitDocument(value: unknown): SplitDocument | null {
  const { symbol, data, results } = asObject(value) ?? {};
  const entries = (asArray(data) ?? asArray(results) ?? []).map((entry) => asObject(entry) ?? {});
  if (typeof symbol === 'string' && entries.some((entry) => 'effective_date' in entry))
    return {
      format: 'Alpha Vantage JSON of splits',
      source: 'alpha-vantage',
      splits: entries.map(({ effective_date: date, split_factor: factor }) => ({
        symbol,
        date: asText(date),
        ratio: fractionOf(Number(factor ?? NaN)),
        text: asText(factor) ?? '',
      })),
    };
  if (!entries.some((entry) => 'execution_date' in entry && 'split_to' in entry)) return null;
  return {
    format: 'Massive JSON of splits',
    source: 'massive',
    splits: entries.map(({ ticker, execution_date: date, split_to: to, split_from: from }) => ({
      symbol: asText(ticker),
      date: asText(date),
      ratio: ratioOf(asText(to) ?? '', asText(from) ?? ''),
      text: `${asText(to)}:${asText(from)}`,
    })),
  };
}

/** The splits of a document as checked rows, all located at the line where it begins. */
export function rowsOfSplits({ splits }: SplitDocument, line: number): SplitRow[] {
  return splits.map((split) => checkedRow(split, line));
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}
