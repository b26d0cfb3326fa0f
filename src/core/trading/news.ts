import * as v from 'valibot';
import { type CalendarDate, isCalendarDate, utcDate, zonedInstant } from '#time/calendar.ts';
import type { MarketRules } from '#domain/market-rules.ts';
import { type HttpFailure, httpRequest, type HttpResponse } from '#network/http-client.ts';
import { asObject, tryParse } from '#json/json.ts';
import { secretHider, redactSecrets } from '#text/secrets.ts';
import { cleanText, cutText, quote } from '#text/text.ts';

/** Ten results without their pages take about ten kilobytes. */
const MAX_RESPONSE_BYTES = 512 * 1024;
/** Results per search; Jina charges for every ten. */
const MAX_RESULTS = 10;
/** Searches cost money, so a model may make only this many in a day. */
const MAX_SEARCHES_PER_DAY = 30;
const MAX_TITLE_LENGTH = 200;
const MAX_URL_LENGTH = 500;
const MAX_SNIPPET_LENGTH = 500;
/** The length at which the reason of a failed search is cut for the log. */
const MAX_REASON_LENGTH = 200;

/**
 * One piece of news as a model may know it, without the page itself, which may have changed since.
 */
interface NewsItem {
  date: CalendarDate;
  title: string;
  url: string;
  snippet: string;
}

/**
 * What a search found before the session date. `undated` counts the results without a certain date.
 * Results of the session date and later are dropped silently: even their number would reveal the
 * future.
 */
export type NewsResult =
  | { results: NewsItem[]; undated: number; refusal?: never }
  | { refusal: string };

/**
 * Searches the news as of one morning, for one model-day. A failed search is a refusal; it never
 * throws.
 */
export type NewsSearch = (query: string) => Promise<NewsResult>;

interface NewsProvider {
  apiKey: string;
  baseUrl: string;
  /** From the start of a search to the last byte of its response. */
  timeoutMs: number;
}

interface NewsOptions {
  date: CalendarDate;
  /** Aborted at the end of the model-day. */
  signal: AbortSignal;
  /**
   * Receives the reason for the log, in the provider's words where it gave any, without the key.
   */
  onFailure: (reason: string) => void;
}

/** Why a search failed: in our words for the model, with the provider's words for the log. */
interface Failure {
  forModel: string;
  reason: string;
}

const responseSchema = v.object({ data: v.array(v.unknown()) });
const resultSchema = v.object({
  title: v.string(),
  url: v.pipe(v.string(), v.regex(/^https?:\/\//i)),
  description: v.nullish(v.string(), ''),
  date: v.nullish(v.unknown()),
  publishedTime: v.nullish(v.unknown()),
});
type SearchResult = v.InferOutput<typeof resultSchema>;

/**
 * The date before which news is out when a session begins: its own or, where it begins while the
 * day before is not over in UTC, in which news is dated, the day before.
 */
export function newsEnd(
  { opens, time_zone: zone }: Pick<MarketRules, 'opens' | 'time_zone'>,
  date: CalendarDate,
): CalendarDate {
  const opening = utcDate(zonedInstant(zone, date, opens));
  return opening < date ? opening : date;
}

/**
 * Opens the news of a morning, found through Jina's search. A failed search is not retried: the
 * model reads why and can search again itself, and no model-day waits longer than one time limit.
 */
export function openNews(
  provider: NewsProvider,
  { date, signal, onFailure }: NewsOptions,
): NewsSearch {
  let searches = 0;
  return async (query) => {
    if (searches >= MAX_SEARCHES_PER_DAY)
      return {
        refusal: `No more than ${MAX_SEARCHES_PER_DAY} news searches can be made in a day.`,
      };
    searches += 1;
    const found = await requestNews(provider, { query, date, signal });
    const results = readResults(redactSecrets(found, secretHider([provider.apiKey])));
    if (Array.isArray(results)) return keepPublishedBefore(results, date);
    if (!signal.aborted) onFailure(cutText(results.reason, MAX_REASON_LENGTH));
    return { refusal: `The news search failed: ${results.forModel}.` };
  };
}

/**
 * `before:` is the search engine's own filter and only a hint: without it, nearly everything found
 * about an earlier year would be too late. English, because dates are parsed in English.
 */
function requestNews(
  { apiKey, baseUrl, timeoutMs }: NewsProvider,
  { query, date, signal }: { query: string; date: CalendarDate; signal: AbortSignal },
): Promise<HttpResponse | HttpFailure> {
  return httpRequest(`${baseUrl.replace(/\/+$/, '')}/`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'x-respond-with': 'no-content',
    },
    body: JSON.stringify({ q: `${query} before:${date}`, num: MAX_RESULTS, hl: 'en' }),
    timeoutMs,
    maxBytes: MAX_RESPONSE_BYTES,
    signal,
  });
}

function readResults(result: HttpResponse | HttpFailure): SearchResult[] | Failure {
  if (result.failure !== undefined)
    return { forModel: FAILURE_REASONS[result.failure] ?? UNREADABLE, reason: result.message };
  const { status, text, headers } = result;
  const body = tryParse(text);
  const message = asObject(body)?.['message'];
  const words = typeof message === 'string' ? message : null;
  // Jina reports an empty result as an error.
  if (status === 422 && words?.startsWith('No search results available')) return [];
  if (status !== 200)
    return {
      forModel: STATUS_REASONS[status] ?? `the provider responded with status ${status}`,
      reason: words === null ? `${status}` : `${status}: ${cleanText(words)}`,
    };
  const list = v.safeParse(responseSchema, body);
  // Such a response is not repeated: it may be a page of headlines.
  if (!list.success)
    return {
      forModel: UNREADABLE,
      reason: `200 with ${headers['content-type'] ?? 'no content type'}, which is not a list of results`,
    };
  return list.output.data.flatMap((entry) => {
    const checked = v.safeParse(resultSchema, entry);
    return checked.success ? [checked.output] : [];
  });
}

const UNREADABLE = "the provider's response cannot be read";
const FAILURE_REASONS: Partial<Record<HttpFailure['failure'], string>> = {
  connection: 'the provider cannot be reached',
  timeout: 'the provider did not respond in time',
  certificate: "the provider's certificate is not trusted",
  proxy: 'the provider cannot be reached',
  too_large: "the provider's response is too large",
  aborted: 'the model-day has ended',
};

const STATUS_REASONS: Record<number, string> = {
  401: 'the provider refused the key',
  402: "the provider's account is used up",
  403: 'the provider refused the key',
  429: 'the provider allows no more searches for now',
};

/**
 * What was published before the date, in the provider's order. Only results that pass this filter
 * reach a model.
 */
function keepPublishedBefore(found: readonly SearchResult[], date: CalendarDate): NewsResult {
  const dated = found.map((result) => ({ ...result, published: latestPublication(result) }));
  const earlier = dated.flatMap(({ published, title, url, description }) => {
    if (published === null || published >= date) return [];
    return {
      date: published,
      title: quote(title, MAX_TITLE_LENGTH),
      url: quote(url, MAX_URL_LENGTH),
      snippet: quote(description, MAX_SNIPPET_LENGTH),
    };
  });
  return {
    results: earlier.slice(0, MAX_RESULTS),
    undated: dated.filter(({ published }) => published === null).length,
  };
}

/** The later of a result's two dates, and none when one of them is uncertain. */
function latestPublication({ date, publishedTime }: SearchResult): CalendarDate | null {
  const dates = [date, publishedTime]
    .filter((stamp) => stamp != null && stamp !== '')
    .map(publicationDate);
  const certain = dates.filter((published) => published !== null);
  return certain.length === dates.length ? (certain.sort().at(-1) ?? null) : null;
}

/**
 * Nothing on the web is older than the web: an earlier time stamp, like 1970-01-01, comes from a
 * clock that was never set.
 */
const EARLIEST_DATE = '1990-01-01';
const MAX_STAMP_LENGTH = 64;

const WEEKDAY = '(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\\.?,? )?';
const MONTH = '(?<month>[a-z]{3,9})\\.?';
const YEAR = '(?<year>\\d{4})';
const CLOCK = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d)(?::(?:[0-5]\\d|60)(?:[.,]\\d{1,9})?)?';
const OFFSET = '[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?';
const ZONE = `(?<zone>z|ut|utc|gmt|[ecmp][sd]t|${OFFSET})`;
const TIME = `${CLOCK}(?: ?${ZONE})?`;

/** ISO 8601; RFC 2822 and `5 January 2025`; `Jan 5, 2025`. */
const FORMS = [
  `${YEAR}-(?<month>\\d{2})-(?<day>\\d{2})(?:[t ]${TIME})?`,
  `${WEEKDAY}(?<day>\\d{1,2}) ${MONTH} ${YEAR}(?: ${TIME})?`,
  `${WEEKDAY}${MONTH} (?<day>\\d{1,2}),? ${YEAR}`,
].map((form) => new RegExp(`^${form}$`, 'i'));

const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

/**
 * The date on which something says it was published, or null when that is uncertain. A time with a
 * zone counts as its date in UTC; a date without a time, and a time without a zone, are taken as
 * they are. Relative dates ("3 days ago") refer to the real clock and do not count, nor do
 * ambiguous ("1/5/2025") or impossible ones.
 */
export function publicationDate(stamp: unknown): CalendarDate | null {
  if (typeof stamp !== 'string' || stamp.length > MAX_STAMP_LENGTH) return null;
  const text = stamp.trim().replace(/\s+/g, ' ');
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { year, month = '', day = '', hour, minute, zone } = parts;
  const date = `${year}-${monthNumber(month)}-${day.padStart(2, '0')}`;
  if (!isCalendarDate(date)) return null;
  const published = zone ? utcDate(new Date(`${date} ${hour}:${minute} ${zone}`)) : date;
  return published < EARLIEST_DATE ? null : published;
}

/**
 * Two digits, from digits or from an English month name or its abbreviation; `00` for anything
 * else.
 */
function monthNumber(text: string): string {
  if (/^\d/.test(text)) return text;
  const index = MONTHS.findIndex((name) => name.startsWith(text.toLowerCase()));
  return String(index + 1).padStart(2, '0');
}
