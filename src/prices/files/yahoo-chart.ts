import assert from 'node:assert/strict';
import { type CalendarDate, isCalendarDate } from '../../basics/calendar.ts';
import { ServiceError } from '../../basics/domain.ts';
import { checkBar, dayOf, type RawBar, refuse, type Row } from './bar.ts';
import { asArray, asObject, asText, type Json, plainText } from '../../basics/json.ts';
import { ratioOf } from '../provider.ts';
import { checkDividend } from './dividend-rows.ts';

/** Refuses files whose bars are not days. */

const MINUTE_MS = 60_000;
/** Longer gaps are between days: a time of day may shift with the season. */
const MAX_INTRADAY_GAP_MS = 12 * 60 * MINUTE_MS;
const STAMP = /^\s*(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)[T ]+(\d{1,2}):?(\d\d)(?::?(\d\d))?/;

/** The error for a file of other bars, such as "60-minute bars". */
export function notDaily(bars: string): ServiceError {
  return new ServiceError('invalid_file', `it holds ${bars}; daily ones are needed`);
}

/**
 * What bars with these times are in words, such as "60-minute bars"; null when they are days, or
 * when some have no time of day. The texts are dates with times; other texts are ignored. A column
 * of times beside the dates may hold the time of the close, so it only counts where a symbol has
 * several bars.
 */
export function intradayBars(
  stamps: Iterable<{ symbol: string; text: string }>,
  { isTimeBeside }: { isTimeBeside: boolean },
): string | null {
  const latest = new Map<string, number>();
  let shortestMs = Infinity;
  let hasTime = false;
  for (const { symbol, text } of stamps) {
    const at = millisecondsOf(text);
    if (at === null && /^\s*\d{4}-?\d\d-?\d\d\s*$/.test(text)) return null;
    if (at === null) continue;
    hasTime ||= at % (24 * 60 * MINUTE_MS) !== 0 && !isCalendarDate(dayOf(text));
    const gapMs = Math.abs(at - (latest.get(symbol) ?? at));
    if (gapMs > 0) shortestMs = Math.min(shortestMs, gapMs);
    latest.set(symbol, at);
  }
  if (shortestMs <= MAX_INTRADAY_GAP_MS) return barsOfGap(shortestMs);
  return shortestMs === Infinity && hasTime && !isTimeBeside ? 'bars with a time of day' : null;
}

function barsOfGap(gapMs: number): string {
  return gapMs % MINUTE_MS === 0
    ? `${gapMs / MINUTE_MS}-minute bars`
    : `${gapMs / 1000}-second bars`;
}

function millisecondsOf(text: string): number | null {
  const [, year, month, day, hour, minute, second = '0'] = STAMP.exec(text) ?? [];
  if (year === undefined) return null;
  return Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
}

/**
 * Yahoo's chart as JSON: a timestamp for each bar, the prices in columns beside them, and splits
 * and dividends by timestamp. Prices and dividends are adjusted for splits.
 */

const COLUMNS = ['open', 'high', 'low', 'close', 'volume'] as const;
/**
 * The offset from UTC is that of the day of the download, which summer time may put an hour after
 * that of a bar.
 */
const SUMMER_SECONDS = 3600;

/**
 * The chart in a document, or Yahoo's error in the place of one; undefined where the document has
 * neither.
 */
export function chartIn(value: unknown): Json | undefined {
  const document = asObject(value);
  return asObject(document?.['chart']) ?? asObject(document?.['finance']);
}

/**
 * The rows of a chart, all located at the line where it begins. Throws a `ServiceError` for one
 * that has no daily bars.
 */
export function rowsOfChart(
  chart: Json,
  { line, today }: { line: number; today: CalendarDate },
): Row[] {
  const error = asText(asObject(chart['error'])?.['description']);
  if (error !== undefined)
    throw new ServiceError(
      'invalid_file',
      `it holds the provider's message instead of prices: ${error}`,
    );
  return (asArray(chart['result']) ?? []).flatMap((result) =>
    rowsOfSeries(asObject(result) ?? {}, { line, today }),
  );
}

/** One symbol's part of a chart. */
interface Series {
  symbol: string;
  currency: string | undefined;
  dateOf: (timestamp: unknown) => CalendarDate | undefined;
  line: number;
  today: CalendarDate;
}

function rowsOfSeries(result: Json, { line, today }: { line: number; today: CalendarDate }): Row[] {
  const {
    symbol,
    currency,
    gmtoffset = 0,
    dataGranularity = '1d',
  } = asObject(result['meta']) ?? {};
  if (typeof symbol !== 'string') throw new ServiceError('invalid_file', 'its chart has no symbol');
  if (dataGranularity !== '1d') throw notDaily(barsOf(plainText(dataGranularity) ?? ''));
  const dateOf = (timestamp: unknown) =>
    dateAt(numberOf(timestamp, NaN) + numberOf(gmtoffset, 0) + SUMMER_SECONDS);
  const series: Series = { symbol, currency: asText(currency), dateOf, line, today };
  const { dividends, splits } = asObject(result['events']) ?? {};
  const bars = readBars(result, series);
  const told = {
    dividend: dividends === undefined ? null : 0,
    split: splits === undefined ? null : { numerator: 1, denominator: 1 },
  };
  for (const row of bars.values()) if (row.bar !== undefined) row.actions = { ...told };
  const refused = [...readDividends(dividends, bars, series), ...readSplits(splits, bars, series)];
  return [...bars.values(), ...refused];
}

type BarRows = Map<CalendarDate | undefined, Row>;

/**
 * The bars by date. Of today, Yahoo may send the bar and then another of the present moment, which
 * has all of it.
 */
function readBars(result: Json, { symbol, dateOf, line, today }: Series): BarRows {
  const timestamps = asArray(result['timestamp']) ?? [];
  const quote = asObject(asArray(asObject(result['indicators'])?.['quote'])?.[0]) ?? {};
  const columns = new Map(COLUMNS.map((name) => [name, asArray(quote[name]) ?? []]));
  for (const [name, { length }] of columns)
    if (length !== timestamps.length)
      throw new ServiceError(
        'invalid_file',
        `its chart has ${timestamps.length} timestamps and ${length} ${name}`,
      );
  const cell = (name: (typeof COLUMNS)[number], index: number) =>
    plainText(columns.get(name)?.[index]);
  const bars: BarRows = new Map();
  for (const [index, timestamp] of timestamps.entries()) {
    const date = dateOf(timestamp);
    const prices = {
      open: cell('open', index),
      high: cell('high', index),
      low: cell('low', index),
      close: cell('close', index),
    };
    const raw: RawBar = {
      symbol,
      date: date ?? plainText(timestamp),
      ...prices,
      volume: cell('volume', index),
    };
    // What it says of splits and dividends is in the events, whatever its prices are.
    bars.set(date, { line, leaves: { symbol }, ...checkBar(raw, today) });
  }
  return bars;
}

/** Adds the dividends to the bars of their dates, and returns those that cannot be added. */
function readDividends(
  events: unknown,
  bars: BarRows,
  { symbol, currency, dateOf, line, today }: Series,
): Row[] {
  return Object.values(asObject(events) ?? {}).flatMap((event) => {
    const { date: timestamp, amount } = asObject(event) ?? {};
    const date = dateOf(timestamp);
    const raw = {
      symbol,
      exDate: date ?? plainText(timestamp),
      amount: plainText(amount),
      currency,
    };
    const { dividend, defect = noBar(symbol, date, bars) } = checkDividend(raw, today);
    if (defect !== null)
      return [
        { line, defect, ...(date !== undefined && { leaves: { symbol, dividendsOn: date } }) },
      ];
    const actions = bars.get(date)?.actions;
    assert(actions && dividend, 'a dividend without a defect has a bar');
    actions.dividend = (actions.dividend ?? 0) + dividend.cash;
    return [];
  });
}

/** Adds the splits to the bars of their dates, and returns those that cannot be added. */
function readSplits(events: unknown, bars: BarRows, { symbol, dateOf, line }: Series): Row[] {
  return Object.values(asObject(events) ?? {}).flatMap((event) => {
    const { date: timestamp, numerator, denominator } = asObject(event) ?? {};
    const date = dateOf(timestamp);
    const split = ratioOf(plainText(numerator) ?? '', plainText(denominator) ?? '');
    const defect =
      split === null
        ? refuse('split is not a plausible ratio', JSON.stringify(event)).defect
        : noBar(symbol, date, bars);
    if (defect !== null)
      return [{ line, defect, ...(date !== undefined && { leaves: { symbol, splitsOn: date } }) }];
    const actions = bars.get(date)?.actions;
    assert(actions, 'a split without a defect has a bar');
    actions.split = split;
    return [];
  });
}

function noBar(symbol: string, date: CalendarDate | undefined, bars: BarRows) {
  return bars.get(date)?.bar === undefined
    ? refuse('no bar of its date', `${symbol} ${date ?? ''}`).defect
    : null;
}

function dateAt(seconds: number): CalendarDate | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10);
}

function numberOf(value: unknown, missing: number): number {
  return Number(plainText(value) ?? missing);
}

/** `1h` and `60m` are 60-minute bars. */
function barsOf(granularity: string): string {
  const [, number, unit] = /^(\d+)([mh])$/.exec(granularity) ?? [];
  return number === undefined
    ? `bars of ${granularity}`
    : `${Number(number) * (unit === 'h' ? 60 : 1)}-minute bars`;
}
