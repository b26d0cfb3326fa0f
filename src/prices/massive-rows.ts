import { type CalendarDate, isCalendarDate, isTooEarly } from '../calendar.ts';
import type { Dividend } from '../database/dividends.ts';
import type { Split } from '../database/market.ts';
import type { Bar } from '../database/prices.ts';
import { type Json, asArray, asObject } from '../json.ts';
import { quote } from '../text.ts';
import { cashOf, ratioOf, whatIsUnknown } from './action-amounts.ts';
import { type RawBar, checkBar, inWords } from './formats/bar.ts';
import type { ActionPage, ActionQuery, MarketDay, RefusedBar } from './provider.ts';

/**
 * The rows of Massive's responses. Tickers are case-sensitive there (`BACpB` is a preferred share),
 * symbols here are not.
 */

/** A class of shares has a dot in Massive's tickers, whichever way a symbol is spelled: `BRK.B`. */
export function tickerOf(symbol: string): string {
  return symbol.replace(/[-/]/g, '.');
}

/** The symbols that mean each ticker: a universe may spell one in two ways. */
function symbolsByTicker(symbols: readonly string[]): Map<string, string[]> {
  return Map.groupBy(symbols, tickerOf);
}

/** Throws where the response has no list, which is `null` or absent on a day without trading. */
function resultsIn(body: Json): unknown[] {
  const list = body['results'] ?? [];
  const rows = asArray(list);
  if (rows === undefined)
    throw new Error(`results that are not a list: ${quote(JSON.stringify(list))}`);
  return rows;
}

interface DayQuestion {
  date: CalendarDate;
  symbols: readonly string[];
  today: CalendarDate;
  /** The last date whose trading is over. */
  closedThrough: CalendarDate;
}

/** The bars of some symbols. Of a day that is not over, only the open is taken. */
export function readMarketDay(
  body: Json,
  { date, symbols, today, closedThrough }: DayQuestion,
): MarketDay {
  const rows = resultsIn(body);
  if (body['adjusted'] === true && rows.length > 0)
    throw new Error('prices that are adjusted for splits, although adjusted=false was requested');
  const wanted = symbolsByTicker(symbols);
  const bars = new Map<string, Bar>();
  const refused = new Map<string, RefusedBar>();
  let others = 0;
  for (const value of rows) {
    const row = asObject(value);
    const ticker = row?.['T'];
    const named = typeof ticker === 'string' ? wanted.get(ticker) : undefined;
    if (row === undefined || named === undefined) others += 1;
    else
      for (const symbol of named) {
        const { bar, defect } = checkBar(rawBar(row, { symbol, date }), today);
        if (defect !== undefined) refused.set(symbol, { symbol, reason: inWords(defect) });
        else if (!bars.has(symbol)) bars.set(symbol, bar);
      }
  }
  const whole = [...bars.values()];
  return {
    bars:
      date <= closedThrough
        ? whole
        : whole.map((bar) => ({ ...bar, high: null, low: null, close: null, volume: null })),
    refused: [...refused.values()].filter(({ symbol }) => !bars.has(symbol)),
    others,
  };
}

function rawBar(
  { o, h, l, c, v }: Json,
  { symbol, date }: { symbol: string; date: CalendarDate },
): RawBar {
  return {
    symbol,
    date,
    open: text(o),
    high: text(h),
    low: text(l),
    close: text(c),
    volume: text(v),
  };
}

/** A JSON number or text, as text; undefined for null and for an absent field. */
function text(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

type Page<Action> = Omit<ActionPage<Action>, 'next'>;

/**
 * Splits, reverse splits and dividends in shares: `split_to` new shares for `split_from` old ones.
 */
export function readSplits(body: Json, query: ActionQuery): Page<Split> {
  return readActions(body, query, (row, symbol) => {
    const { execution_date: date } = row;
    const ratio = ratioOf(text(row['split_to']) ?? '', text(row['split_from']) ?? '');
    if (!isCalendarDate(date) || ratio === null) return unreadable('split', row, date);
    return { symbol, date, ...ratio };
  });
}

/**
 * `cash_amount` as it was paid, never `split_adjusted_cash_amount`. Without a currency it is
 * dollars: these are US shares.
 */
export function readDividends(body: Json, query: ActionQuery): Page<Dividend> {
  return readActions(body, query, (row, symbol) => {
    const { ex_dividend_date: exDate, currency } = row;
    if (typeof currency === 'string' && currency.toUpperCase() !== 'USD')
      return {
        date: dateIn(exDate),
        reason: `a dividend in ${quote(currency, 10)}`,
        isUnreadable: false,
      };
    const cash = cashOf(text(row['cash_amount']) ?? '');
    if (!isCalendarDate(exDate) || cash === null) return unreadable('dividend', row, exDate);
    return { symbol, exDate, cash };
  });
}

type Refused = Omit<ActionPage<unknown>['refused'][number], 'symbol'>;

function unreadable(noun: string, row: Json, dateOfRow: unknown): Refused {
  const date = dateIn(dateOfRow);
  return {
    date,
    reason: `${whatIsUnknown(noun, date)}: ${quote(JSON.stringify(row))}`,
    isUnreadable: true,
  };
}

function dateIn(value: unknown): CalendarDate | null {
  return isCalendarDate(value) || isTooEarly(value) ? (value as CalendarDate) : null;
}

/**
 * The rows of the symbols within the dates asked for; `read` returns an action, or why there is
 * none.
 */
function readActions<Action extends Split | Dividend>(
  body: Json,
  { symbols, from, to }: ActionQuery,
  read: (row: Json, symbol: string) => Action | Refused,
): Page<Action> {
  const wanted = symbolsByTicker(symbols);
  const rows = resultsIn(body);
  const page: Page<Action> = { actions: [], refused: [], skipped: 0, isEmpty: rows.length === 0 };
  for (const value of rows) {
    const row = asObject(value);
    const ticker = row?.['ticker'];
    for (const symbol of (row && typeof ticker === 'string' && wanted.get(ticker)) || []) {
      const action = read(row as Json, symbol);
      const date = 'exDate' in action ? action.exDate : action.date;
      if (date !== null && !isWithin(date, { from, to })) {
        if ('reason' in action && action.isUnreadable) page.skipped += 1;
      } else if ('reason' in action) page.refused.push({ symbol, ...action });
      else page.actions.push({ id: typeof row?.['id'] === 'string' ? row['id'] : null, action });
    }
  }
  return page;
}

function isWithin(
  date: CalendarDate,
  { from, to }: { from: CalendarDate; to: CalendarDate },
): boolean {
  return from <= date && date <= to;
}
