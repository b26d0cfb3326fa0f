import {
  type CalendarDate,
  EARLIEST_DATE,
  isCalendarDate,
  isTooEarly,
} from '../../basics/calendar.ts';
import { type Bar, type PriceSource, realDates, sourceOfSeries } from '../../database/prices.ts';
import { normaliseSymbol } from '../../basics/domain.ts';
import { quote } from '../../basics/text.ts';
import { LEAST_PRICE, toDollars, UNITS_PER_DOLLAR } from '../../basics/money.ts';
import { type Meaning, meaningOf } from '../../database/schema/price-conditions.ts';
import type { Database } from '../../database/database.ts';
import {
  type ContradictedSplit,
  contradicts,
  isSplitSeen,
  type SplitNight,
  storedSplits,
} from '../../database/splits-and-dividends.ts';
import type { StagedSymbol, Staging } from '../../database/staging.ts';

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
const NUMBER = /^\d+(\.\d*)?([eE][+-]?\d+)?$|^\.\d+$/;

/** An unchecked row of a file: its fields as text, undefined where the file has none. */
export interface RawBar {
  symbol: string | undefined;
  date: string | undefined;
  open: string | undefined;
  high: string | undefined;
  low: string | undefined;
  close: string | undefined;
  volume: string | undefined;
}

/**
 * What a row says beside its bar, where the file has such columns: null where its cell is empty.
 */
export interface Actions {
  /** Cash per share in 1/1,000,000 dollar, 0 for none. */
  dividend?: number | null;
  /** New shares for old ones, 1 for 1 for none. */
  split?: { numerator: number; denominator: number } | null;
}

/** Why a row is refused: the kind of problem, for counting, and the value that shows it. */
export interface Defect {
  reason: string;
  value: string;
}

/** One row of a file: its place there, and the bar or why there is none. */
export type Row = { line: number; leaves?: Unknown } & (
  | { bar: Bar; actions?: Actions; defect?: never }
  | { defect: Defect; bar?: never; actions?: never }
);

/**
 * All that a row leaves unknown, if it is refused, of the splits and dividends of its symbol.
 * Without it, that may be anything.
 */
export interface Unknown {
  symbol: string;
  dividendsOn?: CalendarDate;
  splitsOn?: CalendarDate;
}

/** A file of prices in a known format: its name, and its rows one by one. */
export interface PriceFile {
  kind: 'prices';
  format: string;
  /** The source of its bars, where the format tells what the prices are; otherwise null. */
  source: PriceSource | null;
  /**
   * The columns of CSV, and whether one of them may be the symbol, which is the file's name where
   * no column has a known name.
   */
  header?: { columns: string; mayHideSymbol: boolean };
  rows: AsyncIterable<Iterable<Row>>;
}

/** Checks one row. Dates after `today` are refused. */
export function checkBar(
  raw: RawBar,
  today: CalendarDate,
): { bar: Bar; defect?: never } | { defect: Defect; bar?: never } {
  const symbol = normaliseSymbol(raw.symbol ?? '');
  if (symbol === null) return refuse('not a ticker symbol', raw.symbol);
  const date = dayOf(raw.date);
  if (isTooEarly(date)) return refuse(`a date before ${EARLIEST_DATE}`, date);
  if (!isCalendarDate(date))
    return refuse(
      /^\d{4}-\d{2}-\d{2}[T ]/.test(date ?? '')
        ? 'not a daily bar (it has a time of day)'
        : 'not a date YYYY-MM-DD',
      date,
    );
  if (date > today) return refuse('a date in the future', date);
  const bar: Bar = { symbol, date, open: 0, high: null, low: null, close: null, volume: null };
  for (const field of ['open', 'high', 'low', 'close', 'volume'] as const) {
    const text = raw[field]?.trim() ?? '';
    if (isAbsent(text)) {
      if (field === 'open') return refuse('no open', date);
      continue;
    }
    const number = field === 'volume' ? readVolume(text) : readPrice(text);
    if (number === null) return refuse(`${field} is not a plausible number`, text);
    if (field !== 'volume' && number < LEAST_DOLLARS)
      return refuse(`${field} is below ${LEAST_DOLLARS} dollar, the unit of money`, text);
    bar[field] = number;
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
export function dayOf(text: string | undefined): string | undefined {
  const day = text?.trim();
  return day !== undefined && MIDNIGHT.test(day.slice(DATE_LENGTH))
    ? day.slice(0, DATE_LENGTH)
    : day;
}

/** What exporters write for unknown values. */
export function isAbsent(text: string): boolean {
  return text === '' || /^(null|none|nan|n\/a|-)$/i.test(text);
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
export function withoutDollarSign(text: string): string {
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
  const volume = !NUMBER.test(amount)
    ? NaN
    : unit === undefined
      ? Number(amount)
      : Math.round(Number(amount) * unit);
  return volume >= 0 && volume <= MAX_VOLUME ? volume : null;
}

/** A defect in a sentence about something else. */
export function inWords({ reason, value }: Defect): string {
  return `${reason}: ${quote(value)}`;
}

/** A defect, with the beginning of the value. */
export function refuse(reason: string, value: string | undefined): { defect: Defect } {
  return { defect: { reason, value: (value ?? 'nothing').slice(0, 60) } };
}

/**
 * What the prices of a file are: what a person says; or what its format tells; or what is seen
 * across a split that is known; or else adjusted for splits, as most sources send them.
 */

const BY_MEANING: Record<Meaning, PriceSource> = {
  raw: 'csv',
  'split-adjusted': 'file-split-adjusted',
  'total-return': 'file-total-return',
};

/** What the prices of a file are taken for. */
export interface Taken {
  meaning: Meaning;
  source: PriceSource;
  by: 'said' | 'format' | 'seen' | 'default';
  /** The split that showed it. */
  night: SplitNight | null;
}

/**
 * The closes around all splits of the file's symbols that are known, from the file itself or from
 * the database.
 */
export function nightsIn(
  database: Database,
  staging: Staging,
  symbols: readonly StagedSymbol[],
): SplitNight[] {
  const splits = Map.groupBy(staging.splits(), ({ symbol }) => symbol);
  return symbols.flatMap(({ symbol }) => {
    const stored = storedSplits(database, symbol);
    const byDate = new Map(
      [...stored, ...(splits.get(symbol) ?? [])].map((split) => [split.date, split]),
    );
    return [...byDate.values()].flatMap((split) => staging.night(split) ?? []);
  });
}

/** Decides what a file's prices are. Where its symbols show both, the more of them count. */
export function meaningOfFile(
  { source }: PriceFile,
  said: Meaning | null,
  nights: readonly SplitNight[],
): Taken {
  if (said !== null) {
    const fits = source !== null && meaningOf(source) === said;
    return { meaning: said, source: fits ? source : BY_MEANING[said], by: 'said', night: null };
  }
  if (source !== null) return { meaning: meaningOf(source), source, by: 'format', night: null };
  const [seen, unseen] = [true, false].map((isSeen) =>
    nights.filter((night) => isSplitSeen(night) === isSeen),
  );
  const symbolsOf = (some: readonly SplitNight[] = []) =>
    new Set(some.map(({ symbol }) => symbol)).size;
  const meaning = symbolsOf(seen) > symbolsOf(unseen) ? 'raw' : 'split-adjusted';
  const night = (meaning === 'raw' ? seen : unseen)?.[0] ?? null;
  return { meaning, source: BY_MEANING[meaning], by: night === null ? 'default' : 'seen', night };
}

/** Why a symbol's prices cannot be imported as they are taken, or null. */
export function problemOf(
  database: Database,
  symbol: StagedSymbol['symbol'],
  { staging, taken, nights }: { staging: Staging; taken: Taken; nights: readonly SplitNight[] },
): Defect | null {
  const wrong = nights.find(
    (night) => night.symbol === symbol && contradicts(night, taken.meaning),
  );
  if (wrong !== undefined)
    return {
      reason: `a known split contradicts that the prices are ${taken.meaning}`,
      value: nightInWords(wrong),
    };
  const source = sourceOfSeries(database, symbol);
  if (source === null || meaningOf(source) === taken.meaning) return null;
  if (taken.by === 'said' && realDates(database, symbol).every((date) => staging.has(symbol, date)))
    return null;
  return {
    reason: `${taken.meaning} prices for a symbol whose stored prices are ${meaningOf(source)}`,
    value: `${symbol} has prices from ${source}`,
  };
}

/** A split with the closes around it. */
export function nightInWords(night: SplitNight): string {
  const { symbol, numerator, denominator, date, previousDate, previousClose, nextDate, nextClose } =
    night;
  return (
    `${symbol} split ${numerator}:${denominator} on ${date}, and closed at ${previousClose} on ${previousDate}` +
    ` and at ${nextClose} on ${nextDate}`
  );
}

/** The splits that stored prices contradict, in sentences. */
export function contradictionsInWords(contradicted: readonly ContradictedSplit[]): string[] {
  return contradicted.map(
    ({ meaning, ...night }) =>
      `Prices of ${night.symbol} are stored as ${meaning}, which a split contradicts: ${nightInWords(night)};` +
      ` import all of them again with --as ${meaning === 'raw' ? 'split-adjusted' : 'raw'}`,
  );
}
