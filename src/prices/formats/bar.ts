import { type CalendarDate, EARLIEST_DATE, isCalendarDate, isTooEarly } from '../../calendar.ts';
import type { Bar, PriceSource } from '../../database/prices.ts';
import { normaliseSymbol } from '../../domain.ts';

/** A higher price is a mistake; the database refuses it too. */
export const MAX_PRICE = 10_000_000;
export const MAX_VOLUME = 1e15;
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

/** Why a row is refused: the kind of problem, for counting, and the value that shows it. */
export interface Defect {
  reason: string;
  value: string;
}

/** One row of a file: its place there, and the bar or why there is none. */
export type Row = { line: number } & ({ bar: Bar; defect?: never } | { defect: Defect; bar?: never });

/** A file of prices in a known format: its name, the source of its bars, and its rows one by one. */
export interface PriceFile {
  kind: 'prices';
  format: string;
  source: PriceSource;
  rows: AsyncIterable<Iterable<Row>>;
}

/** Checks one row. Dates after `today` are refused. */
export function checkBar(
  raw: RawBar,
  today: CalendarDate,
): { bar: Bar; defect?: never } | { defect: Defect; bar?: never } {
  const symbol = normaliseSymbol(raw.symbol ?? '');
  if (symbol === null) return refuse('not a ticker symbol', raw.symbol);
  const date = raw.date?.trim();
  if (isTooEarly(date)) return refuse(`a date before ${EARLIEST_DATE}`, date);
  if (!isCalendarDate(date))
    return refuse(
      /^\d{4}-\d{2}-\d{2}[T ]/.test(date ?? '') ? 'not a daily bar (it has a time of day)' : 'not a date YYYY-MM-DD',
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
    bar[field] = number;
  }
  if (bar.high !== null && bar.low !== null && bar.high < bar.low)
    return refuse('high is below low', `${bar.high} < ${bar.low}`);
  return { bar };
}

/** What exporters write for unknown values. */
export function isAbsent(text: string): boolean {
  return text === '' || /^(null|none|nan|n\/a|-)$/i.test(text);
}

/** Dollars rounded to 1/10000, the service's unit; null unless above 0 and plausible. */
function readPrice(text: string): number | null {
  if (!NUMBER.test(text)) return null;
  const price = Math.round(Number(text) * 10_000) / 10_000;
  return price > 0 && price <= MAX_PRICE ? price : null;
}

function readVolume(text: string): number | null {
  const volume = NUMBER.test(text) ? Number(text) : NaN;
  return volume >= 0 && volume <= MAX_VOLUME ? volume : null;
}

/** A defect, with the beginning of the value. */
export function refuse(reason: string, value: string | undefined): { defect: Defect } {
  return { defect: { reason, value: (value ?? 'nothing').slice(0, 60) } };
}
