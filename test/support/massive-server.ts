import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { listenHere } from './loopback.ts';
import { type Fault, faults } from './price-server.ts';
import { rowsOf } from './prices.ts';

export const MASSIVE_KEY = 'MASSIVE_0123"45\\6789_SECRET';

const NOTHING = { status: 'OK', queryCount: 0, resultsCount: 0, adjusted: true, request_id: 'r' };

/**
 * What Massive returns instead of prices, in its own words; and responses that are damaged on the
 * way.
 */
export const massiveFaults = {
  unknownKey: error(401, 'Unknown API Key'),
  keyInWords: error(401, `Unknown API Key ${MASSIVE_KEY}`),
  keyAtTheCut: error(500, `${'x'.repeat(290)}${MASSIVE_KEY}`),
  beyondPlan: refusal(
    "Your plan doesn't include this data timeframe. Please upgrade your plan at https://massive.com/pricing",
  ),
  notEntitled: refusal('You are not entitled to this data. Please upgrade your plan.'),
  limit: error(
    429,
    "You've exceeded the maximum requests per minute, please wait or upgrade your subscription to continue.",
  ),
  limitFor: (seconds: string) => answer(429, {}, { 'retry-after': seconds }),
  rateWith200: error(200, 'rate limit exceeded'),
  limitWith200: error(200, "You've exceeded the maximum requests per minute, please wait"),
  nullResults: answer(200, { ...NOTHING, results: null }),
  noResults: answer(200, NOTHING),
  notAList: answer(200, { status: 'OK', results: 'AAPL' }),
  notFound: answer(404, { status: 'NOT_FOUND', message: 'no such route' }),
  json: (body: unknown) => answer(200, body),
  ...faults,
} as const;

export interface MassiveServerOptions {
  /** A table of bars (see prices.ts). A day without a bar is one without trading. */
  prices?: string;
  /** A line per split: `SYMBOL DATE FROM TO`, new shares for old ones being `TO` for `FROM`. */
  splits?: string;
  /** A line per dividend: `SYMBOL DATE CASH [CURRENCY]`. */
  dividends?: string;
  /** Bars of this many other symbols on each day with trading. */
  others?: number;
  /** The dates that the plan includes. */
  plan?: { from: string; to: string };
  /** Requests per window of time, as counted by `now`; the ones above it are answered with 429. */
  limit?: { requests: number; windowMs: number; now: () => number };
  /** How many splits or dividends are on a page. */
  pageSize?: number;
  /** The host in `next_url`, which may be the provider's own. */
  nextHost?: string;
  /** What to respond instead; called for every request with its number, from 0. */
  fault?: (request: string, index: number) => Fault | undefined;
}

export interface MassiveServer {
  url: string;
  /**
   * One entry per request that was within the limit: `2025-11-17`, `splits`, `dividends page 2`.
   */
  requests: string[];
  /** How many requests were answered with 429. */
  limited: number;
  /** The URLs of all requests, for tests of the wire format. */
  targets: string[];
  set(options: MassiveServerOptions): void;
}

/**
 * A price provider on loopback that speaks Massive's format. Without the key in the header every
 * request is refused.
 */
export async function startMassiveServer(
  t: TestContext,
  options: MassiveServerOptions,
): Promise<MassiveServer> {
  let current = options;
  const times: number[] = [];
  const massive: MassiveServer = {
    ...{ url: '', requests: [], limited: 0, targets: [] },
    set: (changed) => void (current = { ...current, ...changed }),
  };
  const server = createServer((request, response) => {
    massive.targets.push(request.url ?? '');
    respond(request, response, massive, { times, options: current });
  });
  massive.url = `http://127.0.0.1:${await listenHere(t, server)}`;
  return massive;
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  massive: MassiveServer,
  { times, options }: { times: number[]; options: MassiveServerOptions },
): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const page = Number(url.searchParams.get('cursor') ?? '1');
  const name = url.pathname.split('/').at(-1) + (page > 1 ? ` page ${page}` : '');
  const { limit } = options;
  if (limit !== undefined) {
    const now = limit.now();
    while (times[0] !== undefined && times[0] <= now - limit.windowMs) times.shift();
    if (times.length >= limit.requests) {
      massive.limited += 1;
      return massiveFaults.limit(response);
    }
    times.push(now);
  }
  massive.requests.push(name);
  const fault = options.fault?.(name, massive.requests.length - 1);
  if (fault !== undefined) return fault(response);
  if (request.headers.authorization !== `Bearer ${MASSIVE_KEY}`)
    return massiveFaults.unknownKey(response);
  if (url.pathname.startsWith('/v2/aggs/')) return respondBars(response, url, options);
  const kind = /^\/stocks\/v1\/(splits|dividends)$/.exec(url.pathname)?.[1];
  if (kind === undefined) return massiveFaults.notFound(response);
  respondActions(response, url, page, { ...options, kind: kind as keyof typeof rowsBy });
}

function respondBars(
  response: ServerResponse,
  { pathname, searchParams }: URL,
  options: MassiveServerOptions,
): void {
  const date = pathname.split('/').at(-1) ?? '';
  const { plan, others = 0 } = options;
  if (searchParams.get('adjusted') !== 'false') return massiveFaults.notFound(response);
  if (plan && (date < plan.from || date > plan.to)) return massiveFaults.beyondPlan(response);
  const rows = rowsOf(options.prices ?? '').filter((row) => row[1] === date);
  const results = rows.map(([symbol, , open, close, volume = '1000']) => ({
    ...{ T: symbol, v: Number(volume), vw: Number(open), o: Number(open), c: Number(close), n: 9 },
    ...{ h: Math.max(Number(open), Number(close)), l: Math.min(Number(open), Number(close)) },
    t: Date.parse(`${date}T20:00:00Z`),
  }));
  for (let index = 0; results.length > 0 && index < others; index += 1)
    results.push({ T: `zz${index}`, v: 1, vw: 1, o: 1, c: 1, n: 1, h: 1, l: 1, t: 0 });
  const count = results.length;
  const body = { ...NOTHING, adjusted: false, queryCount: count, resultsCount: count };
  massiveFaults.json(count === 0 ? body : { ...body, results })(response);
}

/** A split or a dividend as it is sent. */
interface ActionRow extends Record<string, unknown> {
  ticker: string;
}

const DATE_FIELDS = { splits: 'execution_date', dividends: 'ex_dividend_date' };

const rowsBy = {
  splits: ({ splits = '' }: MassiveServerOptions): ActionRow[] =>
    rowsOf(splits).map(([ticker = '', execution_date, from, to]) => ({
      ...{ ticker, execution_date, split_from: Number(from), split_to: Number(to) },
      adjustment_type: 'forward_split',
    })),
  /** With the amounts that a reader must not take: those adjusted for later splits. */
  dividends: ({ dividends = '' }: MassiveServerOptions): ActionRow[] =>
    rowsOf(dividends).map(([ticker = '', ex_dividend_date, cash, currency = 'USD']) => ({
      ...{ ticker, ex_dividend_date, cash_amount: Number(cash), currency },
      split_adjusted_cash_amount: Number(cash) / 99,
    })),
};

function respondActions(
  response: ServerResponse,
  { pathname, searchParams }: URL,
  page: number,
  options: MassiveServerOptions & { kind: keyof typeof rowsBy },
): void {
  const { kind, pageSize = 5_000, nextHost } = options;
  const field = DATE_FIELDS[kind];
  const from = searchParams.get(`${field}.gte`) ?? '';
  const to = searchParams.get(`${field}.lte`) ?? '9999';
  const named = searchParams.get('ticker.any_of')?.split(',');
  const found = rowsBy[kind](options)
    .filter(
      ({ ticker, [field]: date }) =>
        from <= String(date) && String(date) <= to && (named?.includes(ticker) ?? true),
    )
    .map((row, index) => ({ id: `${row.ticker}-${row[field]}-${index}`, ...row }));
  const next = new URL(`${nextHost ?? 'http://localhost'}${pathname}?${searchParams}`);
  next.searchParams.set('cursor', String(page + 1));
  const results = found.slice((page - 1) * pageSize, page * pageSize);
  const hasNext = page * pageSize < found.length;
  const body = { status: 'OK', request_id: 'r', results };
  massiveFaults.json({ ...body, ...(hasNext && { next_url: next.href }) })(response);
}

function error(status: number, words: string): Fault {
  return answer(status, { status: 'ERROR', request_id: 'r', error: words });
}

function refusal(message: string): Fault {
  return answer(403, { status: 'NOT_AUTHORIZED', request_id: 'r', message });
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Fault {
  const text = JSON.stringify(body);
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
