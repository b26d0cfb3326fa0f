import { type CalendarDate, isCalendarDate, isTooEarly } from '../basics/calendar.ts';
import type { Dividend } from '../database/splits-and-dividends.ts';
import type { Split } from '../database/market.ts';
import type { Bar } from '../database/prices.ts';
import { asArray, asObject, asText, type Json, plainText, tryParse } from '../basics/json.ts';
import { secretHider, withoutSecrets } from '../basics/secrets.ts';
import { quote } from '../basics/text.ts';
import {
  type ActionPage,
  type ActionQuery,
  type DateProvider,
  describeFailure,
  type MarketDay,
  type Problem,
  type ProviderResponse,
  type RefusedBar,
  whatIsUnknown,
} from './provider.ts';
import { cashOf, ratioOf } from './amounts.ts';
import { checkBar, inWords, type RawRow } from './files/row.ts';
import { messageOf } from '../basics/domain.ts';
import { httpRequest, type HttpResponse, readRetryAfter } from '../basics/http-client.ts';

/**
 * The rows of Massive's responses. Tickers are case-sensitive there (`BACpB` is a preferred share),
 * symbols here are not.
 */

/** A class of shares has a dot in Massive's tickers, whichever way a symbol is spelled: `BRK.B`. */
function tickerOf(symbol: string): string {
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
function readMarketDay(
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
): RawRow {
  return {
    symbol,
    date,
    open: plainText(o),
    high: plainText(h),
    low: plainText(l),
    close: plainText(c),
    volume: plainText(v),
  };
}

type Page<Action> = Omit<ActionPage<Action>, 'next'>;

/**
 * Splits, reverse splits and dividends in shares: `split_to` new shares for `split_from` old ones.
 */
export function readSplits(body: Json, query: ActionQuery): Page<Split> {
  return readActions(body, query, (row, symbol) => {
    const { execution_date: date } = row;
    const ratio = ratioOf(plainText(row['split_to']) ?? '', plainText(row['split_from']) ?? '');
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
    const cash = cashOf(plainText(row['cash_amount']) ?? '');
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

/**
 * Massive (formerly Polygon) over HTTP: a date of the whole US market per request, as it traded;
 * splits and dividends by range of dates, in pages.
 */

const REQUEST_TIMEOUT_MS = 60_000;
/** A day of the US market is 1.5 MB. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const BARS_PATH = '/v2/aggs/grouped/locale/us/market/stocks';
const SPLITS_PATH = '/stocks/v1/splits';
const DIVIDENDS_PATH = '/stocks/v1/dividends';
/** The most that the provider puts on a page. */
const PAGE_SIZE = 5_000;
/** With more symbols than this, a request does not name them: its URL would become too long. */
const MAX_NAMED_SYMBOLS = 250;
/** A longer wait than this is not meant for a program. */
const MAX_RETRY_AFTER_MS = 3_600_000;

export interface MassiveOptions {
  baseUrl: string;
  apiKey: string;
  /** Today in UTC: there is no later price. */
  today: () => CalendarDate;
  /** The last date whose trading is over: of a later one only the open is final. */
  closedThrough: () => CalendarDate;
}

export function createMassive({
  baseUrl,
  apiKey,
  today,
  closedThrough,
}: MassiveOptions): DateProvider {
  const base = baseUrl.replace(/\/+$/, '');
  const hide = secretHider([apiKey]);
  const ask = async <Value>(
    target: string,
    { read, signal }: { read: (body: Json) => Value; signal: AbortSignal },
  ): Promise<ProviderResponse<Value>> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES, signal };
    const result = await httpRequest(base + target, { headers, ...limits });
    return readResult(withoutSecrets(result, hide), read);
  };
  const askForPage = <Action>(
    target: string,
    {
      path,
      read,
      signal,
    }: {
      path: string;
      read: (body: Json) => Omit<ActionPage<Action>, 'next'>;
      signal: AbortSignal;
    },
  ) =>
    ask(target, {
      signal,
      read: (body) => ({ ...read(body), next: nextTarget(body, { base, path }) }),
    });
  return {
    by: 'date',
    source: 'massive',
    bars: (date, symbols, signal) =>
      ask(`${BARS_PATH}/${date}?adjusted=false`, {
        read: (body) =>
          readMarketDay(body, { date, symbols, today: today(), closedThrough: closedThrough() }),
        signal,
      }),
    splits: (query, page, signal) =>
      askForPage(page ?? firstTarget(SPLITS_PATH, 'execution_date', query), {
        path: SPLITS_PATH,
        read: (body) => readSplits(body, query),
        signal,
      }),
    dividends: (query, page, signal) =>
      askForPage(page ?? firstTarget(DIVIDENDS_PATH, 'ex_dividend_date', query), {
        path: DIVIDENDS_PATH,
        read: (body) => readDividends(body, query),
        signal,
      }),
  };
}

function firstTarget(path: string, dateField: string, { from, to, symbols }: ActionQuery): string {
  const parameters = new URLSearchParams({ [`${dateField}.gte`]: from, [`${dateField}.lte`]: to });
  if (symbols.length <= MAX_NAMED_SYMBOLS)
    parameters.set('ticker.any_of', [...new Set(symbols.map(tickerOf))].join(','));
  parameters.set('limit', String(PAGE_SIZE));
  parameters.set('sort', `${dateField}.asc`);
  return `${path}?${parameters}`;
}

/**
 * The path and query of the next page, to be asked of our own base: a mirror passes on the
 * provider's `next_url`, and no other host may get the key. Throws for a URL of anything but the
 * same list.
 */
function nextTarget(
  { next_url: next }: Json,
  { base, path }: { base: string; path: string },
): string | null {
  if (next === undefined || next === null || next === '') return null;
  const url = typeof next === 'string' ? URL.parse(next, `${base}/`) : null;
  if (url === null || !url.pathname.endsWith(path))
    throw new Error(`a next_url that cannot be followed: ${quote(plainText(next) ?? '')}`);
  url.searchParams.delete('apiKey');
  return path + url.search;
}

function readResult<Value>(
  result: Awaited<ReturnType<typeof httpRequest>>,
  read: (body: Json) => Value,
): ProviderResponse<Value> {
  if (result.failure !== undefined) return describeFailure(result);
  const { status, text } = result;
  const body = asObject(tryParse(text));
  if (status === 200) return readBody(result, body, read);
  const message = `status ${status}: ${quote(wordsOf(body) ?? text)}`;
  if (status === 429) {
    const now = Date.parse(result.headers.date ?? '');
    const retryAfterMs = readRetryAfter(result.headers, now);
    if (retryAfterMs === undefined) return { problem: 'short_limit', message };
    const most = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    return { problem: 'short_limit', message, retryAfterMs: most };
  }
  return { problem: problemOf(status), message };
}

function problemOf(status: number): Problem {
  if (status === 401) return 'bad_key';
  if (status === 403) return 'beyond_plan';
  return status >= 500 ? 'unreachable' : 'unreadable';
}

/**
 * `DELAYED` is an OK on plans whose prices come fifteen minutes late. Gateways may send an error
 * with status 200.
 */
function readBody<Value>(
  { headers, text }: HttpResponse,
  body: Json | undefined,
  read: (body: Json) => Value,
): ProviderResponse<Value> {
  if (body === undefined) {
    const type = headers['content-type'] ?? 'no content type';
    return {
      problem: 'unreadable',
      message: `a response that is not a JSON object (${quote(type)}): ${quote(text)}`,
    };
  }
  const { status, error = null } = body;
  if ((status !== 'OK' && status !== 'DELAYED') || error !== null) {
    const words = quote(`${plainText(status) ?? 'no status'}: ${wordsOf(body) ?? text}`);
    if (/requests per minute/i.test(words)) return { problem: 'short_limit', message: words };
    if (/unknown api ?key/i.test(words)) return { problem: 'bad_key', message: words };
    return { problem: status === 'NOT_AUTHORIZED' ? 'beyond_plan' : 'unreadable', message: words };
  }
  try {
    return { value: read(body) };
  } catch (error) {
    return { problem: 'unreadable', message: messageOf(error) };
  }
}

/** The provider's own sentence in an error. */
function wordsOf(body: Json | undefined): string | undefined {
  return asText(body?.['error']) ?? asText(body?.['message']);
}
