import { setTimeout as sleep } from 'node:timers/promises';
import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import type { Dividend } from '#database/splits-and-dividends.ts';
import type { Split } from '#database/market-queries.ts';
import type { Bar, PriceSource } from '#database/prices.ts';
import { errorMessage } from '#domain/service-error.ts';
import { type HttpRequest, httpRequest, type HttpResponse } from '#network/http-client.ts';
import { secretHider, redactSecrets } from '#text/secrets.ts';
import { backOff } from '#time/event-loop.ts';
import { quote } from '#text/text.ts';

/**
 * What a price provider may return instead of prices. `short_limit` passes within a minute,
 * `daily_quota` by tomorrow; `premium`, `beyond_plan` (of one date, or of splits or dividends) and
 * `unknown_symbol` concern the request, `bad_key` all requests; `unreachable` is a network failure,
 * `unreadable` a response that makes no sense.
 */
export type Problem =
  | 'short_limit'
  | 'daily_quota'
  | 'premium'
  | 'beyond_plan'
  | 'unknown_symbol'
  | 'bad_key'
  | 'unreachable'
  | 'unreadable';

/** A response without what was asked for. */
export interface Failed {
  problem: Problem;
  /** The provider's own words, without the key. */
  message: string;
  /** At a short limit: how long the provider asks to wait. */
  retryAfterMs?: number;
  value?: never;
}

export type ProviderResponse<Value> = { value: Value; problem?: never } | Failed;

/** How a provider is reached. */
export interface ProviderOptions {
  /** Without the path of a request. */
  baseUrl: string;
  apiKey: string;
  /** Today in UTC: there is no later price. */
  today: () => CalendarDate;
  /** The last date whose trading is over: of a later one only the open is final. */
  closedThrough: () => CalendarDate;
}

/**
 * Sends a request for a path and query; what comes back has the key in no part of it. What cannot
 * be read would not be better the next time.
 */
export async function sendRequest(
  { baseUrl, apiKey }: ProviderOptions,
  target: string,
  request: HttpRequest,
): Promise<HttpResponse | Failed> {
  const response = await httpRequest(baseUrl.replace(/\/+$/, '') + target, request);
  const shown = redactSecrets(response, secretHider([apiKey]));
  const { failure } = shown;
  if (failure === undefined) return shown;
  const isUnreadable = failure === 'too_large' || failure === 'coding';
  return { problem: isUnreadable ? 'unreadable' : 'unreachable', message: shown.message };
}

/** What cannot be read of a response with status 200, which should be `what`. */
export function unreadableResponse({ headers, text }: HttpResponse, what: string): Failed {
  const type = headers['content-type'] ?? 'no content type';
  const message = `a response that is not ${what} (${quote(type)}): ${quote(text)}`;
  return { problem: 'unreadable', message };
}

/** What `read` finds in a response; what it throws says why that cannot be read. */
export function readValue<Value>(read: () => Value): ProviderResponse<Value> {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: 'unreadable', message: errorMessage(error) };
  }
}

/** A bar of a day that is not over: only its open is final. */
export function openOnly(bar: Bar): Bar {
  return { ...bar, high: null, low: null, close: null, volume: null };
}

/** `compact`: the last 100 bars; `full`: the whole history. */
export type OutputSize = 'compact' | 'full';
export const COMPACT_BARS = 100;

/** A bar that is not plausible, and why. */
export interface RefusedBar {
  symbol: string;
  reason: string;
}

/**
 * One request supplies one symbol. Each method makes one request and throws nothing for what a
 * provider returns.
 */
export interface SymbolProvider {
  by: 'symbol';
  source: PriceSource;
  /** The bars, oldest first, and those of the response that were implausible. */
  daily(
    symbol: string,
    size: OutputSize,
    signal: AbortSignal,
  ): Promise<ProviderResponse<{ bars: Bar[]; refused: RefusedBar[] }>>;
  splits(symbol: string, signal: AbortSignal): Promise<ProviderResponse<Split[]>>;
  dividends(symbol: string, signal: AbortSignal): Promise<ProviderResponse<DividendHistory>>;
}

/** The dividends of a symbol. */
export interface DividendHistory {
  /** With cash per share as it was paid then, in any order. */
  dividends: Dividend[];
  /** Ex-dates on which it is open what was paid. */
  unreadable: { exDate: CalendarDate; reason: string }[];
  /** The first date from which they are all of them. */
  from: CalendarDate;
}

/** One day of the whole market, reduced to some symbols. */
export interface MarketDay {
  /** At most one per symbol. */
  bars: Bar[];
  /** The symbols whose only bar is implausible. */
  refused: RefusedBar[];
  /** Bars of symbols that were not asked for. */
  others: number;
}

/** A span of dates and some symbols. */
export interface ActionQuery extends DateSpan {
  symbols: readonly string[];
}

/** One page of a list of splits or dividends. */
export interface ActionPage<Action> {
  /** Each with the provider's identifier, where it has one: the same action may be on two pages. */
  actions: { id: string | null; action: Action }[];
  /**
   * Those that cannot be used; unreadable ones leave it open what the symbol paid or how it split
   * on their date, or without one on every date.
   */
  refused: { symbol: string; date: CalendarDate | null; reason: string; isUnreadable: boolean }[];
  /** How many others cannot be read, outside the dates asked for. */
  skipped: number;
  /** Whether it has no row at all, of any symbol. */
  isEmpty: boolean;
  /** Where the next page is; null on the last. */
  next: string | null;
}

/** Requests the first page of a list, or a later one by the `next` of the page before. */
export type ActionList<Action> = (
  query: ActionQuery,
  page: string | null,
  signal: AbortSignal,
) => Promise<ProviderResponse<ActionPage<Action>>>;

/**
 * One request supplies one date, for all symbols. Each method makes one request and throws nothing
 * for what a provider returns.
 */
export interface DateProvider {
  by: 'date';
  source: PriceSource;
  bars(
    date: CalendarDate,
    symbols: readonly string[],
    signal: AbortSignal,
  ): Promise<ProviderResponse<MarketDay>>;
  splits: ActionList<Split>;
  /** As they were paid, per share of the time, in dollars. */
  dividends: ActionList<Dividend>;
}

export type PriceProvider = SymbolProvider | DateProvider;

/** The first wait at a short limit; it doubles with every further try of the same request. */
const FIRST_LIMIT_WAIT_MS = 2_000;
const MAX_LIMIT_WAIT_MS = 60_000;
/** How often one request is put off: `Retry-After: 0` may be all that a provider says. */
const MAX_LIMITS = 100;
/** How often an unreachable provider is tried again, after waits that double. */
const MAX_TRIES = 3;
const FIRST_RETRY_WAIT_MS = 500;

export interface PatienceOptions {
  /** The longest total wait for short limits. */
  maxLimitWaitMs: number;
  signal: AbortSignal;
  /** Called for each request that fails, tried again or not. */
  onFailure?: (failure: Failed) => void;
  /** Replaced in tests, which do not wait. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export type Patience = ReturnType<typeof createPatience>;

/**
 * Repeats a request until the provider answers it or further tries are pointless. Short limits are
 * waited out within the total allowed, as long as the provider asks; where it does not say, as long
 * as the limit before took to pass, and longer from try to try. An unreachable provider is tried a
 * few times.
 */
export function createPatience({
  maxLimitWaitMs,
  signal,
  onFailure = () => {},
  wait = sleepUnlessAborted,
}: PatienceOptions) {
  let waitedMs = 0;
  let requests = 0;
  let lastLimitMs = FIRST_LIMIT_WAIT_MS;
  return {
    /** The total wait for short limits so far. */
    get waitedMs() {
      return waitedMs;
    },
    /** How many requests were made, with those repeated. */
    get requests() {
      return requests;
    },
    /** With `waits` false a short limit is not waited out. */
    async ask<Value>(request: () => Promise<ProviderResponse<Value>>, { waits = true } = {}) {
      const firstMs = lastLimitMs;
      let limits = 0;
      let limitMs = 0;
      for (let tries = 1; ; tries += 1) {
        requests += 1;
        const response = await request();
        if (response.problem !== 'short_limit' && limitMs > 0)
          lastLimitMs = Math.max(FIRST_LIMIT_WAIT_MS, Math.min(limitMs, MAX_LIMIT_WAIT_MS));
        if (signal.aborted) return response;
        if (response.problem !== undefined) onFailure(response);
        const guessMs = backOff(limits + 1, { firstMs, maxMs: MAX_LIMIT_WAIT_MS });
        const limitWaitMs = (response.problem && response.retryAfterMs) ?? guessMs;
        if (
          response.problem === 'short_limit' &&
          waits &&
          limits < MAX_LIMITS &&
          waitedMs + limitWaitMs <= maxLimitWaitMs
        ) {
          limits += 1;
          limitMs += limitWaitMs;
          waitedMs += limitWaitMs;
          await wait(limitWaitMs, signal);
          tries = 0; // a limit is not a failure
        } else if (response.problem === 'unreachable' && tries < MAX_TRIES) {
          await wait(backOff(tries, { firstMs: FIRST_RETRY_WAIT_MS }), signal);
        } else return response;
      }
    },
  };
}

async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/**
 * What a split or dividend that cannot be read leaves unknown: its date, or without one all of its
 * symbol.
 */
export function unreadableReason(noun: string, date: CalendarDate | null): string {
  return `a ${noun} that cannot be read${date === null ? '' : `, so only ${date} is unknown`}`;
}
