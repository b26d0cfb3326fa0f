import { type ServerResponse, createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { listenHere } from './loopback.ts';
import { rowsOf } from './prices.ts';

/**
 * What a provider may return instead of prices: its own sentences, or a response damaged on the
 * way.
 */
export const faults = {
  perSecond: sentence(
    'Information',
    'Please consider spreading out your free API requests more sparingly (1 request per second). You may subscribe to any of the premium plans to lift the free key rate limit (25 requests per day)',
  ),
  perMinute: sentence(
    'Note',
    'Our standard API call frequency is 5 calls per minute and 500 calls per day. Please visit the premium page for a higher API call frequency.',
  ),
  dailyFrequency: sentence(
    'Note',
    'Our standard API call frequency is 25 calls per day. Please visit the premium page for a higher API call frequency.',
  ),
  rateLimit: sentence('Note', 'rate limit exceeded'),
  dailyQuota: (key: string) =>
    sentence(
      'Information',
      `We have detected your API key as ${key} and our standard API rate limit is 25 requests per day. Please subscribe to any of the premium plans to instantly remove all daily rate limits.`,
    ),
  premium: sentence(
    'Information',
    'The outputsize=full parameter value is a premium feature for the TIME_SERIES_DAILY endpoint. You may subscribe to any of the premium plans.',
  ),
  unknownSymbol: sentence(
    'Error Message',
    'Invalid API call. Please retry or visit the documentation for TIME_SERIES_DAILY.',
  ),
  badKey: sentence(
    'Error Message',
    'the parameter apikey is invalid or missing. Please claim your free API key.',
  ),
  empty: answer(200, '{}'),
  splitsInstead: answer(
    200,
    '{"symbol": "A", "data": [{"effective_date": "2020-08-31", "split_factor": "4.0"}]}',
  ),
  html: answer(200, '<html><body>Welcome to the hotel</body></html>', {
    'content-type': 'text/html',
  }),
  unavailable: answer(503, 'upstream is away', { 'content-type': 'text/plain' }),
  tooManyRequests: answer(429, 'slow down'),
  redirect: answer(302, '', { location: 'http://127.0.0.1:9/' }),
  huge: answer(200, JSON.stringify({ 'Meta Data': 'x'.repeat(10_000_000) })),
  cut: (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('{"Meta Data"', () => response.destroy());
  },
  hang: () => {},
} as const;

export type Fault = (response: ServerResponse) => void;

export interface PriceServerOptions {
  /** A table of bars (see prices.ts). */
  prices?: string;
  /** A line per split: `SYMBOL DATE FACTOR`. */
  splits?: string;
  /** A line per dividend: `SYMBOL DATE AMOUNT`. */
  dividends?: string;
  /** What to respond instead; called for every request with its number, from 0. */
  fault?: (request: string, index: number) => Fault | undefined;
}

export interface PriceServer {
  url: string;
  /** One entry per request: `AAPL compact`, `AAPL splits`, `AAPL dividends`. */
  requests: string[];
  /** Changes what is known from now on. */
  set(options: PriceServerOptions): void;
}

/** A price provider on loopback that speaks Alpha Vantage's format. */
export async function startPriceServer(
  t: TestContext,
  options: PriceServerOptions,
): Promise<PriceServer> {
  let current = options;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const symbol = query.get('symbol') ?? '';
    const asked = query.get('function') ?? '';
    const name = `${symbol} ${query.get('outputsize') ?? asked.toLowerCase()}`;
    requests.push(name);
    const fault = current.fault?.(name, requests.length - 1);
    if (fault !== undefined) return fault(response);
    const make = { SPLITS: splitsOf, DIVIDENDS: dividendsOf }[asked] ?? seriesOf;
    const body = make(symbol, current, name);
    (body === null ? faults.unknownSymbol : answer(200, JSON.stringify(body)))(response);
  });
  const url = `http://127.0.0.1:${await listenHere(t, server)}`;
  return { url, requests, set: (changed) => (current = { ...current, ...changed }) };
}

function seriesOf(symbol: string, { prices = '' }: PriceServerOptions, name: string): unknown {
  const rows = rowsOf(prices).filter((row) => row[0] === symbol);
  if (rows.length === 0) return null;
  const newestFirst = rows.sort((one, other) => ((one[1] ?? '') < (other[1] ?? '') ? 1 : -1));
  const days = newestFirst
    .slice(0, name.endsWith('compact') ? 100 : undefined)
    .map(([, date, open, close]) => {
      const [low, high] = [Number(open), Number(close)].sort((one, other) => one - other);
      const bar = { '1. open': open, '2. high': `${high}`, '3. low': `${low}`, '4. close': close };
      return [date, { ...bar, '5. volume': '1000' }];
    });
  return { 'Meta Data': { '2. Symbol': symbol }, 'Time Series (Daily)': Object.fromEntries(days) };
}

function splitsOf(symbol: string, { splits = '' }: PriceServerOptions): unknown {
  const own = rowsOf(splits).filter((row) => row[0] === symbol);
  return {
    symbol,
    data: own.map(([, date, factor]) => ({ effective_date: date, split_factor: factor })),
  };
}

function dividendsOf(symbol: string, { dividends = '' }: PriceServerOptions): unknown {
  const own = rowsOf(dividends).filter((row) => row[0] === symbol);
  const unknown = { declaration_date: 'None', record_date: 'None', payment_date: 'None' };
  return {
    symbol,
    data: own.map(([, date, amount]) => ({ ex_dividend_date: date, ...unknown, amount })),
  };
}

function answer(status: number, text: string, headers: Record<string, string> = {}): Fault {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

function sentence(kind: 'Information' | 'Note' | 'Error Message', text: string): Fault {
  return answer(200, JSON.stringify({ [kind]: text }));
}
