import { type CalendarDate, isCalendarDate } from '#time/calendar.ts';
import type { Dividend } from '#database/splits-and-dividends.ts';
import type { Split } from '#database/market-queries.ts';
import type { Bar } from '#database/prices.ts';
import { asArray, asObject, asText, type Json, plainText, tryParse } from '#json/json.ts';
import { quote } from '#text/text.ts';
import {
  type ActionList,
  type ActionPage,
  type ActionQuery,
  type DateProvider,
  type Failed,
  unreadableResponse,
  type MarketDay,
  openOnly,
  type Problem,
  type ProviderOptions,
  type ProviderResponse,
  readValue,
  type RefusedBar,
  sendRequest,
  unreadableReason,
} from './provider.ts';
import { parseCash, parseRatio } from './amounts.ts';
import { checkBar, parseDate, defectText } from './row.ts';
import { type HttpResponse, readRetryAfter } from '#network/http-client.ts';

/**
 * Massive (formerly Polygon) over HTTP: a date of the whole US market per request, as it traded;
 * splits and dividends by range of dates, in pages. Tickers are case-sensitive there (`BACpB` is a
 * preferred share), symbols here are not.
 */

/** A class of shares has a dot in Massive's tickers, whichever way a symbol is spelled: `BRK.B`. */
function toTicker(symbol: string): string {
  return symbol.replace(/[-/]/g, '.');
}

/** The symbols that mean each ticker: a universe may spell one in two ways. */
function symbolsByTicker(symbols: readonly string[]): ReadonlyMap<unknown, string[]> {
  return Map.groupBy(symbols, toTicker);
}

/** Throws where the response has no list, which is `null` or absent on a day without trading. */
function readResultList(body: Json): unknown[] {
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
  const rows = readResultList(body);
  if (body['adjusted'] === true && rows.length > 0)
    throw new Error('prices that are adjusted for splits, although adjusted=false was requested');
  const wanted = symbolsByTicker(symbols);
  const bars = new Map<string, Bar>();
  const refused = new Map<string, RefusedBar>();
  let others = 0;
  for (const value of rows) {
    const { T: ticker, o, h, l, c, v } = asObject(value) ?? {};
    const named = wanted.get(ticker);
    if (named === undefined) others += 1;
    for (const symbol of named ?? []) {
      const [open, high, low, close, volume] = [o, h, l, c, v].map(plainText);
      const { bar, defect } = checkBar({ symbol, date, open, high, low, close, volume }, today);
      if (defect !== undefined) refused.set(symbol, { symbol, reason: defectText(defect) });
      else if (!bars.has(symbol)) bars.set(symbol, bar);
    }
  }
  const whole = [...bars.values()];
  return {
    bars: date <= closedThrough ? whole : whole.map(openOnly),
    refused: [...refused.values()].filter(({ symbol }) => !bars.has(symbol)),
    others,
  };
}

type Page<Action> = Omit<ActionPage<Action>, 'next'>;

/**
 * Splits, reverse splits and dividends in shares: `split_to` new shares for `split_from` old ones.
 */
function readSplits(body: Json, query: ActionQuery): Page<Split> {
  return readActions(body, query, (row, symbol) => {
    const { execution_date: date } = row;
    const ratio = parseRatio(plainText(row['split_to']) ?? '', plainText(row['split_from']) ?? '');
    if (!isCalendarDate(date) || ratio === null) return unreadable('split', row, date);
    return { symbol, date, ...ratio };
  });
}

/**
 * `cash_amount` as it was paid, never `split_adjusted_cash_amount`. Without a currency it is
 * dollars: these are US shares.
 */
function readDividends(body: Json, query: ActionQuery): Page<Dividend> {
  return readActions(body, query, (row, symbol) => {
    const { ex_dividend_date: exDate, currency } = row;
    if (typeof currency === 'string' && currency.toUpperCase() !== 'USD')
      return {
        date: parseDate(exDate),
        reason: `a dividend in ${quote(currency, 10)}`,
        isUnreadable: false,
      };
    const cash = parseCash(plainText(row['cash_amount']) ?? '');
    if (!isCalendarDate(exDate) || cash === null) return unreadable('dividend', row, exDate);
    return { symbol, exDate, cash };
  });
}

type Refusal = Omit<ActionPage<unknown>['refused'][number], 'symbol'>;

function unreadable(noun: string, row: Json, dateOfRow: unknown): Refusal {
  const date = parseDate(dateOfRow);
  return {
    date,
    reason: `${unreadableReason(noun, date)}: ${quote(JSON.stringify(row))}`,
    isUnreadable: true,
  };
}

/**
 * The rows of the symbols within the dates asked for; `read` returns an action, or why there is
 * none.
 */
function readActions<Action extends Split | Dividend>(
  body: Json,
  { symbols, from, to }: ActionQuery,
  read: (row: Json, symbol: string) => Action | Refusal,
): Page<Action> {
  const wanted = symbolsByTicker(symbols);
  const rows = readResultList(body);
  const page: Page<Action> = { actions: [], refused: [], skipped: 0, isEmpty: rows.length === 0 };
  for (const value of rows) {
    const row = asObject(value) ?? {};
    for (const symbol of wanted.get(row['ticker']) ?? []) {
      const action = read(row, symbol);
      const date = 'exDate' in action ? action.exDate : action.date;
      if (date !== null && (date < from || date > to)) {
        if ('reason' in action && action.isUnreadable) page.skipped += 1;
      } else if ('reason' in action) page.refused.push({ symbol, ...action });
      else page.actions.push({ id: typeof row['id'] === 'string' ? row['id'] : null, action });
    }
  }
  return page;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** A day of the US market is 1.5 MB. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const BARS_PATH = '/v2/aggs/grouped/locale/us/market/stocks';
/** The most that the provider puts on a page. */
const PAGE_SIZE = 5_000;
/** With more symbols than this, a request does not name them: its URL would become too long. */
const MAX_NAMED_SYMBOLS = 250;
/** A longer wait than this is not meant for a program. */
const MAX_RETRY_AFTER_MS = 3_600_000;

export function createMassive(options: ProviderOptions): DateProvider {
  const { baseUrl, apiKey, today, closedThrough } = options;
  const ask = async <Value>(
    target: string,
    signal: AbortSignal,
    read: (body: Json) => Value,
  ): Promise<ProviderResponse<Value>> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES, signal };
    return readResult(await sendRequest(options, target, { headers, ...limits }), read);
  };
  /** Asks for pages of the list at a path, whose dates are in this field. */
  const listPages =
    <Action>(
      path: string,
      dateField: string,
      read: (body: Json, query: ActionQuery) => Page<Action>,
    ): ActionList<Action> =>
    (query, page, signal) =>
      ask(page ?? firstTarget(path, dateField, query), signal, (body) => ({
        ...read(body, query),
        next: nextTarget(body, { baseUrl, path }),
      }));
  return {
    by: 'date',
    source: 'massive',
    bars: (date, symbols, signal) =>
      ask(`${BARS_PATH}/${date}?adjusted=false`, signal, (body) =>
        readMarketDay(body, { date, symbols, today: today(), closedThrough: closedThrough() }),
      ),
    splits: listPages('/stocks/v1/splits', 'execution_date', readSplits),
    dividends: listPages('/stocks/v1/dividends', 'ex_dividend_date', readDividends),
  };
}

function firstTarget(path: string, dateField: string, { from, to, symbols }: ActionQuery): string {
  const parameters = new URLSearchParams({ [`${dateField}.gte`]: from, [`${dateField}.lte`]: to });
  if (symbols.length <= MAX_NAMED_SYMBOLS)
    parameters.set('ticker.any_of', [...new Set(symbols.map(toTicker))].join(','));
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
  { baseUrl, path }: { baseUrl: string; path: string },
): string | null {
  if (next === undefined || next === null || next === '') return null;
  const url = typeof next === 'string' ? URL.parse(next, `${baseUrl}/`) : null;
  if (url === null || !url.pathname.endsWith(path))
    throw new Error(`a next_url that cannot be followed: ${quote(plainText(next) ?? '')}`);
  url.searchParams.delete('apiKey');
  return path + url.search;
}

function readResult<Value>(
  result: HttpResponse | Failed,
  read: (body: Json) => Value,
): ProviderResponse<Value> {
  if ('problem' in result) return result;
  const { status, text } = result;
  const body = asObject(tryParse(text));
  if (status === 200) return readBody(result, body, read);
  const message = `status ${status}: ${quote(errorText(body) ?? text)}`;
  if (status !== 429) return { problem: statusProblem(status), message };
  const wanted = readRetryAfter(result.headers, Date.parse(result.headers.date ?? ''));
  const retryAfterMs = wanted && Math.min(wanted, MAX_RETRY_AFTER_MS);
  return { problem: 'short_limit', message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function statusProblem(status: number): Problem {
  if (status === 401) return 'bad_key';
  if (status === 403) return 'beyond_plan';
  return status >= 500 ? 'unreachable' : 'unreadable';
}

/**
 * `DELAYED` is an OK on plans whose prices come fifteen minutes late. Gateways may send an error
 * with status 200.
 */
function readBody<Value>(
  response: HttpResponse,
  body: Json | undefined,
  read: (body: Json) => Value,
): ProviderResponse<Value> {
  if (body === undefined) return unreadableResponse(response, 'a JSON object');
  const { status, error = null } = body;
  if ((status === 'OK' || status === 'DELAYED') && error === null)
    return readValue(() => read(body));
  const message = quote(`${plainText(status) ?? 'no status'}: ${errorText(body) ?? response.text}`);
  if (/requests per minute|rate limit/i.test(message)) return { problem: 'short_limit', message };
  if (/unknown api ?key/i.test(message)) return { problem: 'bad_key', message };
  return { problem: status === 'NOT_AUTHORIZED' ? 'beyond_plan' : 'unreadable', message };
}

/** The provider's own sentence in an error. */
function errorText(body: Json | undefined): string | undefined {
  return asText(body?.['error']) ?? asText(body?.['message']);
}
