import { type Filters, filtersIn, queryOf } from '../filters.ts';
import type { Decision } from '../responses.ts';

/**
 * What a reader looks at: the filters of all pages, and which decisions, or which words in
 * conversations; empty means all.
 */
export interface FeedChoice {
  filters: Filters;
  kind: string;
  symbol: string;
  /** Words to search for; with any, the page shows messages instead of decisions. */
  words: string;
}

/** The filters of the bar that this page has. */
export const feedFilterNames = ['models', 'start_date', 'end_date', 'job_id'] as const;

/** How many items the feed requests at a time. */
const DECISIONS_PER_PAGE = 50;
const MESSAGES_PER_PAGE = 20;

/** The kinds of decisions in words. */
export const kindWords: Record<Decision['kind'], string> = {
  trade: 'Trades',
  refusal: 'Refused orders',
  failure: 'Failed model-days',
  no_trade: 'Days without a trade',
};

/** The choice in the page's address; the service checks it. */
export function feedChoiceIn(search: string): FeedChoice {
  const query = new URLSearchParams(search);
  const read = (name: string) => query.get(name)?.trim() ?? '';
  return {
    filters: filtersIn(search),
    kind: read('kind'),
    symbol: read('symbol'),
    words: read('q'),
  };
}

/** The page's address with this choice. */
export function feedPath({ filters, kind, symbol, words }: FeedChoice): string {
  return `/decision-feed${queryOf(filters, feedFilterNames, { q: words, kind, symbol })}`;
}

/** The request for a page of decisions; `before` is empty for the first. */
export function decisionsRequest({ filters, kind, symbol }: FeedChoice, before: string): string {
  return `/decisions${queryOf(filters, feedFilterNames, { kind, symbol, limit: String(DECISIONS_PER_PAGE), before })}`;
}

/** The request for a page of messages; `before` is empty for the first. */
export function searchRequest({ filters, words }: FeedChoice, before: string): string {
  return `/search${queryOf(filters, feedFilterNames, { q: words, limit: String(MESSAGES_PER_PAGE), before })}`;
}
