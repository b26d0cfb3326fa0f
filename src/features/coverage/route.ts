import * as v from 'valibot';
import {
  countBars,
  type CoverageSpan,
  coverageSpans,
  knownSymbols,
  storedDividends,
  symbolPrices,
} from './queries.ts';
import { gapsBetween } from '#prices/needs.ts';
import { listBody } from '#api/handler.ts';
import {
  countSchema,
  dateText,
  namedResponse,
  named,
  symbolFilter,
  timestampText,
  nullableDate,
  nullableText,
} from '#api/schemas.ts';
import { route } from '#api/route.ts';

/** Feature: which prices are stored, and which are missing. */

const coverageQuery = v.object({
  symbol: symbolFilter('A ticker symbol, in either case.', 'is not a ticker symbol'),
  date: v.optional(dateText),
});

const span = named('CoverageSpan', {
  source: v.string(),
  start_date: dateText,
  end_date: dateText,
  recorded_at: timestampText,
});
const gap = named('CoverageGap', {
  start_date: dateText,
  end_date: dateText,
  weekdays: countSchema,
});

export const coverageResponse = namedResponse('CoverageResponse', {
  symbols: v.array(
    named('SymbolCoverage', {
      symbol: v.string(),
      source: nullableText,
      first_bar: nullableDate,
      last_bar: nullableDate,
      bars: v.nullable(countSchema),
      last_download: v.nullable(timestampText),
      spans: v.array(span),
      gaps: v.array(gap),
      dividends: named('DividendCoverage', {
        count: countSchema,
        last_ex_date: nullableDate,
        spans: v.array(span),
        gaps: v.array(gap),
      }),
    }),
  ),
  count: countSchema,
});

/** What is covered, and what is not between it. */
function describeSpans(spans: readonly CoverageSpan[]) {
  return {
    spans: spans.map(({ source, startDate, endDate, recordedAt }) => ({
      source,
      start_date: startDate,
      end_date: endDate,
      recorded_at: recordedAt,
    })),
    gaps: gapsBetween(spans).map(({ startDate, endDate, weekdays }) => ({
      start_date: startDate,
      end_date: endDate,
      weekdays,
    })),
  };
}

export const coverageRoute = route({
  method: 'GET',
  path: '/prices/coverage',
  tool: 'price_coverage',
  tag: 'data',
  summary:
    'The stored prices: per symbol its bars, covered spans, gaps between them and last download.',
  query: coverageQuery,
  response: coverageResponse,
  list: 'symbols',
  rest: 'ask for one by symbol',
  isKept: true,
  handle({ database, settings }, { query: { symbol: wanted, date } }) {
    const symbols = wanted === undefined ? knownSymbols(database) : JSON.stringify([wanted]);
    const spansBySymbol = coverageSpans(database, symbols);
    const dividendSpansBySymbol = coverageSpans(database, symbols, 'dividends');
    const dividendsBySymbol = new Map(
      storedDividends(database, symbols).map((stored) => [stored.symbol, stored]),
    );
    const prices = symbolPrices(database, symbols, date ?? null);
    const items = prices.values().map(({ symbol, source, firstDate, lastDate }) => {
      const spans = spansBySymbol.get(symbol) ?? [];
      return JSON.stringify({
        symbol,
        source,
        first_bar: firstDate,
        last_bar: lastDate,
        bars: wanted === undefined ? null : countBars(database, symbol),
        last_download:
          spans
            .map(({ recordedAt }) => recordedAt)
            .sort()
            .at(-1) ?? null,
        ...describeSpans(spans),
        dividends: {
          count: dividendsBySymbol.get(symbol)?.count ?? 0,
          last_ex_date: dividendsBySymbol.get(symbol)?.lastExDate ?? null,
          ...describeSpans(dividendSpansBySymbol.get(symbol) ?? []),
        },
      });
    });
    return listBody(settings, 'symbols', items);
  },
});
