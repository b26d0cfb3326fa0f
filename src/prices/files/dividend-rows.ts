import {
  addDays,
  type CalendarDate,
  EARLIEST_DATE,
  isCalendarDate,
  isTooEarly,
} from '../../basics/calendar.ts';
import type { Dividend } from '../../database/splits-and-dividends.ts';
import { normaliseSymbol, ServiceError } from '../../basics/domain.ts';
import { asArray, asObject } from '../../basics/json.ts';
import { microDollars } from '../../basics/money.ts';
import { dayOf, type Defect, isAbsent, refuse, withoutDollarSign } from './bar.ts';
import {
  dashedDate,
  type Header,
  type LineBatch,
  rowsOfCells,
  startingWith,
  symbolFromName,
} from './lines.ts';

/**
 * Dividends as CSV with a header, and as Alpha Vantage's JSON; both name the cash that one share
 * was paid at the time.
 */

/** A higher dividend per share is a mistake; the database refuses it too. */
export const MAX_CASH = 1_000_000_000_000;
/** Dividends are declared weeks ahead, not years. */
const MAX_DAYS_AHEAD = 366;
const DOLLARS = 'USD';
const COLUMN_NAMES = new Map<string, keyof RawDividend>([
  ['symbol', 'symbol'],
  ['ticker', 'symbol'],
  ['ex_date', 'exDate'],
  ['ex_dividend_date', 'exDate'],
  ['amount', 'amount'],
  ['currency', 'currency'],
]);

interface RawDividend {
  symbol: string | undefined;
  exDate: string | undefined;
  amount: string | undefined;
  currency?: string | undefined;
}

/**
 * One row of a file: its place there, the symbol and the ex-date where they can be read, and the
 * dividend or why there is none. Cash of 0 says that nothing was paid.
 */
export type DividendRow = {
  line: number;
  symbol: string | null;
  exDate: CalendarDate | null;
} & CheckedDividend;
type CheckedDividend =
  | { dividend: Dividend; defect?: never }
  | { defect: Defect; dividend?: never };

/** A file of dividends in a known format. */
export interface DividendFile {
  kind: 'dividends';
  format: string;
  source: 'csv' | 'alpha-vantage';
  rows: AsyncIterable<readonly DividendRow[]>;
}

/** Checks one dividend. A declared one may be in the future. */
export function checkDividend(raw: RawDividend, today: CalendarDate): CheckedDividend {
  const symbol = normaliseSymbol(raw.symbol ?? '');
  if (symbol === null) return refuse('not a ticker symbol', raw.symbol);
  const exDate = dayOf(raw.exDate);
  if (isTooEarly(exDate)) return refuse(`a date before ${EARLIEST_DATE}`, exDate);
  if (!isCalendarDate(exDate)) return refuse('not an ex-date YYYY-MM-DD', exDate);
  if (exDate > addDays(today, MAX_DAYS_AHEAD))
    return refuse('an ex-date more than a year ahead', exDate);
  const currency = raw.currency?.trim() ?? '';
  if (!isAbsent(currency) && currency.toUpperCase() !== DOLLARS)
    return refuse(`not in ${DOLLARS}`, currency);
  const amount = raw.amount?.trim() ?? '';
  if (isAbsent(amount)) return refuse('no amount', exDate);
  const cash = microDollars(withoutDollarSign(amount));
  if (cash === null || cash > MAX_CASH) return refuse('amount is not a plausible number', amount);
  if (cash === 0 && Number(withoutDollarSign(amount)) > 0)
    return refuse('amount is below 0.000001 dollar', amount);
  return { dividend: { symbol, exDate, cash } };
}

function checkedRow(
  raw: RawDividend,
  { line, today }: { line: number; today: CalendarDate },
): DividendRow {
  const exDate = dayOf(raw.exDate);
  const readable = isCalendarDate(exDate) || isTooEarly(exDate) ? (exDate as CalendarDate) : null;
  return {
    line,
    symbol: normaliseSymbol(raw.symbol ?? ''),
    exDate: readable,
    ...checkDividend(raw, today),
  };
}

/** Whether a header is that of a file of dividends. */
export function namesDividends({ names }: Header): boolean {
  return (
    (names.includes('ex_date') || names.includes('ex_dividend_date')) && !names.includes('open')
  );
}

/**
 * Reads a CSV file of dividends. Throws a `ServiceError` when a column is missing or there twice.
 */
export function readDividendCsv(
  batches: AsyncIterator<LineBatch>,
  header: Header,
  { path, today }: { path: string; today: CalendarDate },
): DividendFile {
  const columns = { symbol: -1, exDate: -1, amount: -1, currency: -1 };
  header.names.forEach((name, index) => {
    const field = COLUMN_NAMES.get(name);
    if (field === undefined) return;
    if (columns[field] !== -1)
      throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    columns[field] = index;
  });
  if (columns.amount === -1)
    throw new ServiceError('invalid_file', 'its header has an ex-date and lacks amount');
  const read = ({
    line,
    text,
    cells,
  }: {
    line: number;
    text: string;
    cells: string[];
  }): DividendRow => {
    const width = header.names.length;
    if (cells.length !== width)
      return { line, symbol: null, exDate: null, ...refuse(`not ${width} columns`, text) };
    const symbol = columns.symbol === -1 ? symbolFromName(path) : cells[columns.symbol];
    const [amount, currency] = [cells[columns.amount], cells[columns.currency]];
    const raw = { symbol, exDate: dashedDate(cells[columns.exDate]), amount, currency };
    return checkedRow(raw, { line, today });
  };
  const rowsOf = async function* (): AsyncGenerator<DividendRow[]> {
    for await (const batch of startingWith(header.rest, batches))
      yield [...rowsOfCells(batch, header.separator)].map(read);
  };
  return { kind: 'dividends', format: 'CSV of dividends', source: 'csv', rows: rowsOf() };
}

/** Alpha Vantage's dividends of one symbol, newest first; an unknown value is the text "None". */
export interface DividendDocument {
  symbol: string;
  entries: unknown[];
}

/**
 * The value as a document of dividends; null where it is none. Splits look like it but for their
 * dates.
 */
export function asDividendDocument(value: unknown): DividendDocument | null {
  const { symbol, data } = asObject(value) ?? {};
  const entries = asArray(data);
  if (typeof symbol !== 'string' || entries === undefined) return null;
  return entries.some((entry) => asObject(entry)?.['effective_date'] !== undefined)
    ? null
    : { symbol, entries };
}

/** The dividends of a document as checked rows, all located at the line where it begins. */
export function rowsOfDividends(
  { symbol, entries }: DividendDocument,
  { line, today }: { line: number; today: CalendarDate },
): DividendRow[] {
  return entries.map((entry) => {
    const { ex_dividend_date, amount } = asObject(entry) ?? {};
    const raw = { symbol, exDate: asText(ex_dividend_date), amount: asText(amount) };
    return checkedRow(raw, { line, today });
  });
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}
