import * as v from 'valibot';
import { ServiceError } from '#domain/service-error.ts';
import { type HttpRequest, httpRequest } from '#network/http-client.ts';
import { asObject, asText, type Json, tryParse } from '#json/json.ts';
import { cleanText, forTerminal, quote } from '#text/text.ts';
import { type CalendarDate, lastWeekdayClosed, weekdaysBefore } from '#time/calendar.ts';
import { HTTP_URL, isHttpUrl } from '#network/http-values.ts';
import { localUrl, readSettings } from '#settings/settings.ts';
import { WrongUsage } from './arguments.ts';
import { didYouMean } from '#text/sentences.ts';

/** How long a response may take. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Statuses of a service, or a proxy before it, that is starting or overloaded. */
const TRANSIENT_STATUSES = new Set([429, 502, 503, 504]);
/** How much of the service's words an error repeats: a refusal may name several fields. */
const MAX_QUOTED_LENGTH = 500;

/** Talks to a running service as any client would. */
export type Client = ReturnType<typeof createClient>;

/** Thrown when no response comes, or one that says to try again later. */
export class Unavailable extends ServiceError {
  constructor(message: string) {
    super('service_unavailable', message);
  }
}

/** Thrown for a response that refuses the request; `body` is what it says. */
export class Refused extends ServiceError {
  readonly status: number;
  readonly body: Json;

  constructor(message: string, { status, body }: { status: number; body: Json }) {
    super('service_unavailable', message);
    this.status = status;
    this.body = body;
  }
}

/**
 * Resolves to the JSON of a response, checked; throws error responses with the service's own words,
 * as one line that a terminal can show. `token` is null when the service needs none.
 */
export function createClient(baseUrl: string, token: string | null) {
  const base = baseUrl.replace(/\/+$/, '');
  const access = token === null ? {} : { authorization: `Bearer ${token}` };
  const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: Infinity, isDirect: true } as const;
  const ask = async <Schema extends v.GenericSchema>(
    method: 'GET' | 'POST',
    path: string,
    { schema, headers, ...more }: Pick<HttpRequest, 'headers' | 'body'> & { schema: Schema },
  ) => {
    const request = { ...limits, ...more, method, headers: { ...access, ...headers } };
    const response = await httpRequest(base + path, request);
    if (response.failure !== undefined) {
      const reason = `${cleanText(response.message)} (set its address with --url or API_URL)`;
      throw new Unavailable(`Cannot reach the service at ${new URL(base).origin}: ${reason}`);
    }
    const { status, text } = response;
    const body = tryParse(text);
    const plainPath = path.replace(/\?.*/, '');
    if (status < 200 || status >= 300)
      throw refusal(`${method} ${plainPath}`, { status, text, body: asObject(body) ?? {} });
    const result = v.safeParse(schema, body);
    if (result.success) return result.output;
    const wrong = `${v.getDotPath(result.issues[0]) ?? 'it'} is not as expected`;
    const problem = body === undefined ? 'it is not JSON' : wrong;
    throw new ServiceError(
      'service_unavailable',
      `Cannot read the response of ${base}${plainPath}: ${problem}; is it this service?`,
    );
  };
  return {
    get: <Schema extends v.GenericSchema>(path: string, schema: Schema) =>
      ask('GET', path, { schema }),
    post: <Schema extends v.GenericSchema>(path: string, content: unknown, schema: Schema) =>
      ask('POST', path, {
        schema,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(content),
      }),
  };
}

const UNAUTHORIZED = 401;
const NO_ACCESS = 'The service needs an access token: set API_TOKEN to a token that it knows';

/** With the words of the service, or with whatever a proxy sent instead. */
function refusal(
  what: string,
  { status, text, body }: { status: number; text: string; body: Json },
): ServiceError {
  const isTransient = TRANSIENT_STATUSES.has(status);
  const detail = asText(body['detail']);
  const words = quote(detail ?? text, MAX_QUOTED_LENGTH);
  const note = status < 400 ? ' (a redirect, which is not followed)' : '';
  const foreign = `${what} returned status ${status}${note}${words && `: ${words}`}`;
  const message = status === UNAUTHORIZED ? NO_ACCESS : detail && !isTransient ? words : foreign;
  return isTransient ? new Unavailable(message) : new Refused(message, { status, body });
}

/** What the client commands share. */

/**
 * The service at `--url`, otherwise API_URL, otherwise the one on this machine. Throws a
 * `WrongUsage` for an invalid URL.
 */
export function connect(url: string | undefined): Client {
  const settings = readSettings(process.env);
  const { apiUrl, apiToken } = settings;
  const wanted = url ?? apiUrl ?? localUrl(settings);
  if (!isHttpUrl(wanted)) throw new WrongUsage(`--url: expected ${HTTP_URL}`);
  const { username, password, search, hash } = new URL(wanted);
  if (username !== '' || password !== '')
    throw new WrongUsage(
      'the URL must not contain a password; an access token comes from API_TOKEN',
    );
  if (search !== '' || hash !== '') throw new WrongUsage('the URL must end with its path');
  return createClient(wanted, apiToken);
}

/** The most that a list of jobs has. */
const MAX_LISTED_JOBS = 200;
const NOT_FOUND = 404;

/** The fields of the list of jobs that are needed here. */
const jobList = v.object({ jobs: v.array(v.object({ job_id: v.string() })) });

/** The ids of the newest jobs, at most so many. */
export async function fetchNewestJobs(client: Client, limit: number): Promise<string[]> {
  const { jobs } = await client.get(`/jobs?limit=${limit}`, jobList);
  return jobs.map(({ job_id }) => job_id);
}

/**
 * As the work, but where the service does not find the job, the error names the job that was
 * probably meant.
 */
export async function withJobSuggestion<Result>(
  client: Client,
  jobId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== NOT_FOUND) throw error;
    const meant = didYouMean(
      jobId,
      await fetchNewestJobs(client, MAX_LISTED_JOBS),
      'GET /jobs lists them',
    );
    throw new ServiceError('job_not_found', forTerminal(`There is no job "${jobId}"; ${meant}`));
  }
}

/** The date that means the last trading session, in place of YYYY-MM-DD. */
export const LAST_SESSION = 'last-session';

/** The exchanges have never been closed for so many weekdays in a row since 1914. */
const MAX_CLOSED_WEEKDAYS = 10;

/** The fields of the responses that are needed here. */
const health = v.object({ timestamp: v.pipe(v.string(), v.isoTimestamp()) });
const dates = { start_date: v.string(), end_date: v.string() };
const coverage = v.object({
  symbols: v.array(
    v.object({
      symbol: v.string(),
      first_bar: v.nullable(v.string()),
      last_bar: v.nullable(v.string()),
      spans: v.array(v.object({ ...dates, source: v.string() })),
      gaps: v.array(v.object({ ...dates, weekdays: v.number() })),
    }),
  ),
});

export interface LastSession {
  date: CalendarDate;
  /** Later weekdays, in order, of which the stored prices show that there was no trading. */
  withoutTrading: CalendarDate[];
}

/**
 * The last weekday that is over in New York by the service's clock; before it, while the service
 * knows that there was no trading. The command line works this out from `/health` and
 * `/prices/coverage`: a trigger takes only dates.
 */
export async function findLastSession(client: Client): Promise<LastSession> {
  const { timestamp } = await client.get('/health', health);
  const newest = lastWeekdayClosed(new Date(timestamp));
  const withoutTrading: CalendarDate[] = [];
  for (const date of [newest, ...weekdaysBefore(newest, MAX_CLOSED_WEEKDAYS).reverse()]) {
    if (!(await hadNoTrading(client, date))) return { date, withoutTrading };
    withoutTrading.unshift(date);
  }
  return { date: newest, withoutTrading: [] };
}

/**
 * Whether a date has no bar and is covered or, of symbols that no provider has supplied, between
 * bars in no gap that is too long for holidays. The symbols that count are those with the newest bar
 * of all, of a `universe` if there is one: the coverage of others may have ended long ago, or be that
 * of another exchange.
 */
export async function hadNoTrading(
  client: Client,
  date: CalendarDate,
  universe?: readonly string[],
): Promise<boolean> {
  const read = async (query = '') =>
    (await client.get(`/prices/coverage${query}`, coverage)).symbols.filter(
      ({ symbol }) => universe?.includes(symbol) ?? true,
    );
  if ((await read(`?date=${date}`)).length > 0) return false;
  const symbols = await read();
  const bars = symbols.flatMap(({ last_bar }) => last_bar ?? []);
  const newestBar = bars.sort().at(-1);
  if (newestBar === undefined) return false;
  const isIn = (span: Record<keyof typeof dates, string>) =>
    span.start_date <= date && date <= span.end_date;
  const isKnown = ({ first_bar: first, spans, gaps }: (typeof symbols)[number]) =>
    spans.some(isIn) ||
    (date < newestBar &&
      (first ?? date) < date &&
      !spans.some(({ source }) => /massive|alpha/.test(source)) &&
      !gaps.some((gap) => isIn(gap) && gap.weekdays >= MAX_CLOSED_WEEKDAYS));
  return symbols.filter(({ last_bar }) => last_bar === newestBar).every(isKnown);
}
