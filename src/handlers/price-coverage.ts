import * as v from 'valibot';
import {
  type CoverageSpan,
  countBars,
  coverageSpans,
  storedDividends,
  symbolPrices,
} from '../database/records/price-coverage.ts';
import { SYMBOL_TEXT, normaliseSymbol } from '../domain.ts';
import { gapsBetween } from '../prices/coverage.ts';
import { type ResponseBody, type Context, type Input, deploymentFields } from './handler.ts';
import { countSchema, dateText, deploymentEntries, named, timestampText } from './schemas.ts';

export const coverageQuery = v.object({
  symbol: v.optional(
    v.pipe(
      v.string(),
      v.regex(SYMBOL_TEXT, 'is not a ticker symbol'),
      v.description('A ticker symbol, in either case.'),
      v.transform(normaliseSymbol),
    ),
  ),
  /** Restricts the symbols to those with a bar on this date, which can serve as a universe as of that date. */
  date: v.optional(dateText),
});

const span = named('CoverageSpan', {
  source: v.string(),
  start_date: dateText,
  end_date: dateText,
  recorded_at: timestampText,
});
const gap = named('CoverageGap', { start_date: dateText, end_date: dateText, weekdays: countSchema });

export const coverageResponse = named('CoverageResponse', {
  symbols: v.array(
    named('SymbolCoverage', {
      symbol: v.string(),
      /** The date of the last bar; null without one. */
      source: v.nullable(v.string()),
      first_bar: v.nullable(dateText),
      last_bar: v.nullable(dateText),
      /** Counted only for a single symbol, because that reads every bar; null where all symbols are listed. */
      bars: v.nullable(countSchema),
      /** When a download or an import last recorded a span. */
      last_download: v.nullable(timestampText),
      spans: v.array(span),
      gaps: v.array(gap),
      dividends: named('DividendCoverage', {
        /** How many are stored. */
        count: countSchema,
        last_ex_date: v.nullable(dateText),
        /** A date outside them all, without a stored dividend, may have had one. */
        spans: v.array(span),
        gaps: v.array(gap),
      }),
    }),
  ),
  count: countSchema,
  ...deploymentEntries,
});

/** The stored prices and dividends of all symbols, of one symbol, or of those with a bar on a date. */
export function priceCoverage(
  { database, settings }: Context,
  { query }: Input<v.InferOutput<typeof coverageQuery>>,
): ResponseBody {
  const chosen = query.symbol ?? null;
  const spansOf = coverageSpans(database, chosen);
  const dividendSpansOf = coverageSpans(database, chosen, 'dividends');
  const dividendsOf = new Map(storedDividends(database, chosen).map((stored) => [stored.symbol, stored]));
  const symbols = symbolPrices(database, { symbol: chosen, date: query.date ?? null }).map(({ symbol, source, firstDate, lastDate }) => {
    const spans = spansOf.get(symbol) ?? [];
    return {
      symbol,
      source,
      first_bar: firstDate,
      last_bar: lastDate,
      bars: chosen === null ? null : countBars(database, symbol),
      last_download: spans.map(({ recordedAt }) => recordedAt).sort().at(-1) ?? null,
      ...describeSpans(spans),
      dividends: {
        count: dividendsOf.get(symbol)?.count ?? 0,
        last_ex_date: dividendsOf.get(symbol)?.lastExDate ?? null,
        ...describeSpans(dividendSpansOf.get(symbol) ?? []),
      },
    };
  });
  return JSON.stringify({ symbols, count: symbols.length, ...deploymentFields(settings) });
}

/** What is covered, and what is not between it. */
function describeSpans(spans: readonly CoverageSpan[]) {
  return {
    spans: spans.map(({ source, startDate, endDate, recordedAt }) => ({
      source,
      start_date: startDate,
      end_date: endDate,
      recorded_at: recordedAt,
    })),
    gaps: gapsBetween(spans).map(({ startDate, endDate, weekdays }) => ({ start_date: startDate, end_date: endDate, weekdays })),
  };
}
