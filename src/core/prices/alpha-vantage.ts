import { type CalendarDate, isCalendarDate, isTooEarly } from '#time/calendar.ts';
import type { Split } from '#database/market-queries.ts';
import type { Bar } from '#database/prices.ts';
import type { HttpResponse } from '#network/http-client.ts';
import { asArray, asObject, plainText, tryParse } from '#json/json.ts';
import { quote } from '#text/text.ts';
import {
  unreadableResponse,
  type DividendHistory,
  type Failed,
  openOnly,
  type Problem,
  type ProviderOptions,
  type ProviderResponse,
  readValue,
  type RefusedBar,
  sendRequest,
  type SymbolProvider,
  unreadableReason,
} from './provider.ts';
import { factorToRatio } from './amounts.ts';
import { checkBar, checkRow, parseDay, defectText } from './row.ts';
import { readDailySeries, readDividends as readDividendRows } from './alpha-vantage-json.ts';

/**
 * Alpha Vantage over HTTP: daily bars as they traded, splits, and dividends as they were paid.
 * Errors are sentences, with status 200.
 */

const REQUEST_TIMEOUT_MS = 30_000;
/** Thirty years of daily bars are 1.5 MB. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Its dividends begin in 1999, as its prices do, however long a company had paid some. */
const DIVIDENDS_SINCE: CalendarDate = '2000-01-01';

export function createAlphaVantage(options: ProviderOptions): SymbolProvider {
  const { apiKey, today, closedThrough } = options;
  const ask = async <Value>(
    parameters: Record<string, string>,
    signal: AbortSignal,
    read: (body: unknown) => Value,
  ): Promise<ProviderResponse<Value>> => {
    const query = new URLSearchParams({ ...parameters, apikey: apiKey });
    const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES, signal };
    return readResult(await sendRequest(options, `/query?${query}`, limits), read);
  };
  return {
    by: 'symbol',
    source: 'alpha-vantage',
    daily: (symbol, outputsize, signal) =>
      ask({ function: 'TIME_SERIES_DAILY', symbol, outputsize }, signal, (body) =>
        readBars(body, symbol, { today: today(), closedThrough: closedThrough() }),
      ),
    splits: (symbol, signal) =>
      ask({ function: 'SPLITS', symbol }, signal, (body) => readSplits(body, symbol)),
    dividends: (symbol, signal) =>
      ask({ function: 'DIVIDENDS', symbol }, signal, (body) =>
        readDividends(body, { symbol, today: today() }),
      ),
  };
}

function readResult<Value>(
  result: HttpResponse | Failed,
  read: (body: unknown) => Value,
): ProviderResponse<Value> {
  if ('problem' in result) return result;
  const { status, text } = result;
  if (status !== 200)
    return { problem: statusProblem(status), message: `status ${status}: ${quote(text)}` };
  const body = tryParse(text);
  if (body === undefined) return unreadableResponse(result, 'JSON');
  const sentence = errorText(body);
  if (sentence !== undefined)
    return { problem: classifyMessage(sentence), message: quote(sentence) };
  return readValue(() => read(body));
}

function statusProblem(status: number): Problem {
  if (status === 429) return 'short_limit';
  if (status === 401 || status === 403) return 'bad_key';
  return status >= 500 ? 'unreachable' : 'unreadable';
}

function errorText(body: unknown): string | undefined {
  const { Note, Information, 'Error Message': error } = asObject(body) ?? {};
  return plainText(error ?? Note ?? Information);
}

/**
 * The meaning of a sentence from the provider. Order matters: the sentence about requests per
 * second also names the daily quota, and all of them advertise the premium plans.
 */
function classifyMessage(sentence: string) {
  if (/spreading out|per second|per minute/i.test(sentence)) return 'short_limit';
  if (/per day|daily/i.test(sentence) && /limit|quota|frequency/i.test(sentence))
    return 'daily_quota';
  if (/rate limit|call frequency/i.test(sentence)) return 'short_limit';
  if (/apikey is invalid|api ?key[^.]*(invalid|missing)/i.test(sentence)) return 'bad_key';
  if (/invalid api call/i.test(sentence)) return 'unknown_symbol';
  return /premium/i.test(sentence) ? 'premium' : 'unreadable';
}

/** The plausible bars, oldest first. Of a day that is not over, only the open is taken. */
function readBars(
  body: unknown,
  symbol: string,
  { today, closedThrough }: { today: CalendarDate; closedThrough: CalendarDate },
): { bars: Bar[]; refused: RefusedBar[] } {
  const rows = readDailySeries(asObject(body) ?? {}).rows.map((row) =>
    checkBar({ ...row, symbol }, today),
  );
  return {
    bars: rows
      .flatMap(({ bar }) => bar ?? [])
      .map((bar) => (bar.date <= closedThrough ? bar : openOnly(bar)))
      .sort((one, other) => (one.date < other.date ? -1 : 1)),
    refused: rows.flatMap(({ defect }) => (defect ? [{ symbol, reason: defectText(defect) }] : [])),
  };
}

function readSplits(body: unknown, symbol: string): Split[] {
  const list = asArray(asObject(body)?.['data']);
  if (list === undefined) throw new Error('the response has no "data" with splits');
  return list.flatMap((entry) => {
    const { effective_date: date, split_factor } = asObject(entry) ?? {};
    if (isTooEarly(date)) return []; // no price is that old
    const factor = Number(plainText(split_factor) ?? NaN);
    const fraction = factorToRatio(factor);
    if (!isCalendarDate(date) || fraction === null)
      throw new Error(`a split that cannot be read: ${quote(JSON.stringify(entry))}`);
    return [{ symbol, date, ...fraction }];
  });
}

/**
 * Throws for a dividend whose ex-date cannot be read, unless it is older than any price: it must
 * not be taken for none.
 */
function readDividends(
  body: unknown,
  { symbol, today }: { symbol: string; today: CalendarDate },
): DividendHistory {
  const document = readDividendRows({ ...asObject(body), symbol });
  if (document === null) throw new Error('the response has no "data" with dividends');
  const dividends: DividendHistory['dividends'] = [];
  const unreadable: DividendHistory['unreadable'] = [];
  for (const row of document.rows) {
    if (isTooEarly(row.date)) continue;
    const { bar, defect } = checkRow(row, { hasPrices: false, today });
    const { date: exDate } = parseDay(row);
    if (bar !== undefined) dividends.push({ symbol, exDate: bar.date, cash: bar.dividend ?? 0 });
    else if (exDate === null)
      throw new Error(`a dividend that cannot be read: ${defectText(defect)}`);
    else
      unreadable.push({
        exDate,
        reason: `${unreadableReason('dividend', exDate)}: ${defect.reason}`,
      });
  }
  const from = dividends.reduce(
    (first, { exDate }) => (exDate < first ? exDate : first),
    DIVIDENDS_SINCE,
  );
  return { dividends: dividends.filter(({ cash }) => cash > 0), unreadable, from };
}
