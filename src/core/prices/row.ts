import {
  addDays,
  type CalendarDate,
  EARLIEST_DATE,
  isCalendarDate,
  isTooEarly,
} from '#time/calendar.ts';
import type { Bar, PriceSource } from '#database/prices.ts';
import type { Exchange } from '#database/exchanges.ts';
import { normaliseSymbol } from '#domain/symbols.ts';
import { quote } from '#text/text.ts';
import { LEAST_PRICE, microDollars, toDollars, UNITS_PER_DOLLAR } from '#money/money.ts';
import { MILLIONTHS } from '#trading/share-events.ts';
import { MAX_CASH, parseRatio, parseShares } from './amounts.ts';

/** A higher price is a mistake; the database refuses it too. */
export const MAX_PRICE = 10_000_000;
/** So is a lower one, which exact money cannot hold. */
const LEAST_DOLLARS = toDollars(LEAST_PRICE);
export const MAX_VOLUME = 1e15;
/**
 * An open or close may lie this far outside low to high: sources round, or take them from different
 * markets.
 */
const MAX_OUTSIDE = 0.01;
/** Dividends and splits are announced weeks ahead, not years. */
const MAX_DAYS_AHEAD = 366;
const DOLLARS = 'USD';
/** The currency of the exchanges whose symbols end so. */
const YUAN = 'CNY';
const CHINESE = /\.(SH|SHH|SZ|SHZ|BJ)$/i;
const NUMBER = /^\d+(\.\d*)?([eE][+-]?\d+)?$|^\.\d+$/;

/** A row that was checked: a bar, and what happened on its date. */
export interface StagedRow extends Omit<Bar, 'open'> {
  line: number;
  /** Null, as all prices are, in a file without prices. */
  open: number | null;
  /** Cash per share in 1/1,000,000 dollar; null where the row does not say. */
  dividend: number | null;
  /**
   * New shares for old ones, 1 for 1 where the row says that there was no split; null where it does
   * not say.
   */
  numerator: number | null;
  denominator: number | null;
  /** Whether the row says that its dividend is right, 1 or 0; null where it does not say. */
  confirmed: number | null;
}

/**
 * What a row may have: a symbol and a date, the prices of that day, cash per share in a currency,
 * new shares for old ones; of an exchange also whose, and whether the old ones stay.
 */
export type Field = Exclude<keyof StagedRow, 'line'> | 'currency' | 'into' | 'remains';

/** Why a row is refused: the kind of problem, for counting, and the value that shows it. */
export interface Defect {
  reason: string;
  value: string;
}

/** A row as it is in a file: its fields as text, undefined where the file has none. */
export interface Row extends Partial<Record<Field, string | undefined>> {
  /** That of one document over many lines is the first. */
  line?: number;
  /** Why its fields cannot be read at all. */
  defect?: Defect;
}

/**
 * A file in a known format: its name, and its rows one by one. Without prices it is a table of
 * dividends, of splits or of both; or one of exchanges.
 */
export interface Table {
  format: string;
  hasPrices: boolean;
  hasExchanges?: boolean | undefined;
  /** The source of what it has; null where the format does not tell what its prices are. */
  source: PriceSource | null;
  /**
   * The columns of CSV, and whether one of them may be the symbol, which is the file's name where
   * no column has a known name.
   */
  header?: { columns: string; mayHideSymbol: boolean };
  rows: Iterable<Iterable<Row>> | AsyncIterable<Iterable<Row>>;
}

/** Checks a row. Prices are not of the future; dividends may have been announced. */
export function checkRow(
  row: Row,
  { hasPrices, today }: { hasPrices: boolean; today: CalendarDate },
): Checked<StagedRow> {
  if (row.defect !== undefined) return { defect: row.defect };
  const { bar, defect } = hasPrices ? checkBar(row, today) : checkDay(row);
  if (defect !== undefined) return { defect };
  const actions = readActions(row, hasPrices);
  if ('defect' in actions) return actions;
  if (actions.dividend !== null && bar.date > addDays(today, MAX_DAYS_AHEAD))
    return refuse('an ex-date more than a year ahead', bar.date);
  return { bar: { ...bar, ...actions, line: row.line ?? 1 } };
}

/** Alpha Vantage ends symbols of Shanghai and Shenzhen with `.SHH` and `.SHZ`, others with `.SH` and `.SZ`. */
function readSymbol(text = ''): string | null {
  return normaliseSymbol(text)?.replace(/^(\d{6}\.S)H([HZ])$/, '$1$2') ?? null;
}

/** The symbol and the date of a row; null where they cannot be read. */
export function parseDay({ symbol, date }: Row) {
  return { symbol: readSymbol(symbol), date: parseDate(trimTime(date)) };
}

/** A date of the calendar, however early; null for anything else. */
export function parseDate(value: unknown): CalendarDate | null {
  return isCalendarDate(value) || isTooEarly(value) ? (value as CalendarDate) : null;
}

type Checked<Value> = { bar: Value; defect?: never } | { defect: Defect; bar?: never };

/** Checks the bar of a row. Dates after `today` are refused. */
export function checkBar(row: Row, today: CalendarDate): Checked<Bar> {
  const day = checkDay(row);
  if (day.defect !== undefined) return day;
  const { date } = day.bar;
  if (date > today) return refuse('a date in the future', date);
  const bar: Bar = { ...day.bar, open: 0 };
  for (const field of ['open', 'high', 'low', 'close', 'volume'] as const) {
    const amount = readAmount(field, row[field]);
    if (typeof amount === 'object' && amount !== null) return amount;
    if (field !== 'open') bar[field] = amount;
    else if (amount === null) return refuse('no open', date);
    else bar.open = amount;
  }
  if (bar.high !== null && bar.low !== null && bar.high < bar.low)
    return refuse('high is below low', `${bar.high} < ${bar.low}`);
  for (const field of ['open', 'close'] as const) {
    const { [field]: price, low, high } = bar;
    if (price === null) continue;
    if (low !== null && price < low * (1 - MAX_OUTSIDE))
      return refuse(`${field} is more than 1 % below low`, `${price} < ${low}`);
    if (high !== null && price > high * (1 + MAX_OUTSIDE))
      return refuse(`${field} is more than 1 % above high`, `${price} > ${high}`);
  }
  return { bar };
}

/** Checks the symbol and the date of a row. */
function checkDay(row: Row): Checked<Omit<Bar, 'open'> & { open: number | null }> {
  const symbol = readSymbol(row.symbol);
  if (symbol === null) return refuse('not a ticker symbol', row.symbol);
  const date = trimTime(row.date);
  if (isCalendarDate(date))
    return { bar: { symbol, date, open: null, high: null, low: null, close: null, volume: null } };
  if (isTooEarly(date)) return refuse(`a date before ${EARLIEST_DATE}`, date);
  return refuse(
    /^\d{4}-\d{2}-\d{2}[T ]/.test(date ?? '')
      ? 'not a daily bar (it has a time of day)'
      : 'not a date YYYY-MM-DD',
    date,
  );
}

type Actions = Pick<StagedRow, 'dividend' | 'numerator' | 'denominator' | 'confirmed'>;
const NO_ACTIONS: Actions = { dividend: null, numerator: null, denominator: null, confirmed: null };

/** The dividend and the split of a row; one without prices has at least one of them. */
function readActions(row: Row, hasPrices: boolean): Actions | { defect: Defect } {
  const [cash, shares] = [knownText(row.dividend), knownText(row.numerator)];
  if (cash + shares === '')
    return hasPrices ? NO_ACTIONS : refuse('no dividend and no split', row.date);
  const confirmed = readFlag(row, 'confirmed');
  if (typeof confirmed === 'object' && confirmed !== null) return confirmed;
  const paid = cash === '' ? { dividend: null } : readCash(cash, row);
  if ('defect' in paid || shares === '') return { ...NO_ACTIONS, confirmed, ...paid };
  const old = row.denominator?.trim() ?? '';
  const isNone = Number(shares) === 1 && Number(old) === 1;
  const ratio = isNone ? { numerator: 1, denominator: 1 } : parseRatio(shares, old);
  return ratio === null
    ? refuse('split is not a plausible ratio', `${shares}:${old}`)
    : { confirmed, ...paid, ...ratio };
}

/** Yes as 1, no as 0; null where the row does not say. */
function readFlag(row: Row, field: 'confirmed' | 'remains'): 0 | 1 | null | { defect: Defect } {
  const text = knownText(row[field]);
  if (text === '') return null;
  if (/^(y|yes|true|1)$/i.test(text)) return 1;
  return /^(n|no|false|0)$/i.test(text) ? 0 : refuse(`${field} is neither yes nor no`, text);
}

/** Cash per share in 1/1,000,000 dollar. */
function readCash(text: string, row: Row): Pick<Actions, 'dividend'> | { defect: Defect } {
  const currency = knownText(row.currency);
  const known = CHINESE.test(row.symbol?.trim() ?? '') ? YUAN : DOLLARS;
  if (currency !== '' && currency.toUpperCase() !== known)
    return refuse(`not in ${known}`, currency);
  const dollars = withoutDollarSign(text);
  const cash = Number(dollars) === 0 ? 0 : microDollars(dollars);
  if (cash === null || cash > MAX_CASH) return refuse('dividend is not a plausible number', text);
  return cash === 0 && Number(dollars) > 0
    ? refuse('dividend is below 0.000001 dollar', text)
    : { dividend: cash };
}

/** Checks a row of a file of exchanges, which may be announced, as dividends are. */
export function checkExchange(row: Row, today: CalendarDate): Exchange | { defect: Defect } {
  if (row.defect !== undefined) return { defect: row.defect };
  const day = checkDay(row);
  if (day.defect !== undefined) return day;
  const { symbol, date } = day.bar;
  if (date > addDays(today, MAX_DAYS_AHEAD)) return refuse('a date more than a year ahead', date);
  const remains = readFlag(row, 'remains') ?? 0;
  if (typeof remains === 'object') return remains;
  const perShare = knownText(row.dividend);
  const dollars = withoutDollarSign(perShare || '0');
  const cash = microDollars(dollars);
  if (cash === null || cash > MAX_CASH) return refuse('cash is not a plausible number', perShare);
  if (cash / MILLIONTHS !== Number(dollars))
    return refuse('cash has more than six decimals', perShare);
  const [name, over, under] = [row.into, row.numerator, row.denominator].map(knownText);
  const ratio = `${over}:${under}`;
  if (!name) {
    if (ratio !== ':') return refuse('numerator or denominator without into', ratio);
    if (perShare === '')
      return refuse('incomplete: neither cash nor into; a worthless end says cash 0', symbol);
    if (remains === 1)
      return refuse(
        'cash with shares that remain is a dividend: import it with ex_date and amount',
        perShare,
      );
    return { symbol, date, cash, into: '', numerator: null, denominator: null, remains };
  }
  const into = readSymbol(name);
  if (into === null) return refuse('into is not a ticker symbol', name);
  if (!over || !under) return refuse('into without numerator and denominator', ratio);
  const shares = parseShares(over, under);
  if (shares === null) return refuse('not a plausible ratio', ratio);
  if (into === symbol && (shares.numerator !== shares.denominator || cash > 0 || remains === 1))
    return refuse(
      'an exchange into the symbol itself; 1:1 without cash says that there was none',
      symbol,
    );
  return { symbol, date, cash, into, ...shares, remains };
}

/**
 * The end of a time of midnight: in whatever zone the source writes, or in UTC when it is midnight
 * in New York.
 */
const MIDNIGHT =
  /^[T ](?:00:00(?::00(?:\.0{1,9})?)?(?:Z| ?UTC|[+-]\d\d:?\d\d)?|0[45]:00:00(?:\.0{1,9})?(?:Z| ?UTC|[+-]00:?00))$/;
const DATE_LENGTH = 10;

/**
 * The date of a daily bar, whose time of day is midnight if it has one; other text without the
 * blanks around it.
 */
function trimTime(text: string | undefined): string | undefined {
  const day = text?.trim();
  return day !== undefined && day.length > DATE_LENGTH && MIDNIGHT.test(day.slice(DATE_LENGTH))
    ? day.slice(0, DATE_LENGTH)
    : day;
}

/** What exporters write for unknown values. */
const UNKNOWN = /^(null|none|nan|n\/a|-)$/i;

/** A cell without the blanks around it; empty where it says nothing. */
function knownText(cell = ''): string {
  const text = cell.trim();
  return UNKNOWN.test(text) ? '' : text;
}

/** A price or a volume; null where the row does not say. */
function readAmount(
  field: 'open' | 'high' | 'low' | 'close' | 'volume',
  cell = '',
): number | null | { defect: Defect } {
  const text = cell.trim();
  const number = field === 'volume' ? readVolume(text) : readPrice(text);
  if (number === null)
    return knownText(text) === '' ? null : refuse(`${field} is not a plausible number`, text);
  return field !== 'volume' && number < LEAST_DOLLARS
    ? refuse(`${field} is below ${LEAST_DOLLARS} dollar, the unit of money`, text)
    : number;
}

/**
 * Dollars rounded to 1/10000, the service's unit, unless they are less than it; null unless above 0
 * and plausible.
 */
function readPrice(text: string): number | null {
  const dollars = withoutDollarSign(text);
  if (!NUMBER.test(dollars)) return null;
  const exact = Number(dollars);
  const price =
    exact < LEAST_DOLLARS ? exact : Math.round(exact * UNITS_PER_DOLLAR) / UNITS_PER_DOLLAR;
  return price > 0 && price <= MAX_PRICE ? price : null;
}

/** `$229.72`, as Nasdaq writes it. */
function withoutDollarSign(text: string): string {
  return text.startsWith('$') ? text.slice(1) : text;
}

const VOLUME_UNITS = new Map([
  ['K', 1e3],
  ['M', 1e6],
  ['B', 1e9],
]);

function readVolume(text: string): number | null {
  const unit = VOLUME_UNITS.get(text.slice(-1).toUpperCase());
  const amount = unit === undefined ? text : text.slice(0, -1).trimEnd();
  if (!NUMBER.test(amount)) return null;
  const shares = unit === undefined ? Number(amount) : Math.round(Number(amount) * unit);
  return shares <= MAX_VOLUME ? shares : null;
}

/** A defect in a sentence about something else. */
export function defectText({ reason, value }: Defect): string {
  return `${reason}: ${quote(value)}`;
}

/** A defect, with the beginning of the value. */
export function refuse(reason: string, value: string | undefined): { defect: Defect } {
  return { defect: { reason, value: (value ?? 'nothing').slice(0, 60) } };
}
