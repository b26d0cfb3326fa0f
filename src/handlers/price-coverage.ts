import * as v from 'valibot';
import { countBars, coverageSpans, symbolPrices } from '../database/records/price-coverage.ts';
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
  /** Symbols with a bar on this date alone: what a universe as of that date can be made of. */
  date: v.optional(dateText),
});

export const coverageResponse = named('CoverageResponse', {
  symbols: v.array(
    named('SymbolCoverage', {
      symbol: v.string(),
      /** Of the last bar; null without one. */
      source: v.nullable(v.string()),
      first_bar: v.nullable(dateText),
      last_bar: v.nullable(dateText),
      /** Counted for one symbol alone, because that reads every bar; null where all symbols are listed. */
      bars: v.nullable(countSchema),
      /** When a download or an import last said what is known of it. */
      last_download: v.nullable(timestampText),
      spans: v.array(
        named('CoverageSpan', {
          source: v.string(),
          start_date: dateText,
          end_date: dateText,
          recorded_at: timestampText,
        }),
      ),
      gaps: v.array(named('CoverageGap', { start_date: dateText, end_date: dateText, weekdays: countSchema })),
    }),
  ),
  count: countSchema,
  ...deploymentEntries,
});

/** What is known of the prices of each symbol, of one symbol, or of those with a bar on a date. */
export function priceCoverage(
  { database, settings }: Context,
  { query }: Input<v.InferOutput<typeof coverageQuery>>,
): ResponseBody {
  const chosen = query.symbol ?? null;
  const spansOf = Map.groupBy(coverageSpans(database, chosen), ({ symbol }) => symbol);
  const symbols = symbolPrices(database, { symbol: chosen, date: query.date ?? null }).map(({ symbol, source, firstDate, lastDate }) => {
    const spans = spansOf.get(symbol) ?? [];
    return {
      symbol,
      source,
      first_bar: firstDate,
      last_bar: lastDate,
      bars: chosen === null ? null : countBars(database, symbol),
      last_download: spans.reduce<string | null>(
        (latest, { recordedAt }) => (latest === null || recordedAt > latest ? recordedAt : latest),
        null,
      ),
      spans: spans.map((span) => ({
        source: span.source,
        start_date: span.startDate,
        end_date: span.endDate,
        recorded_at: span.recordedAt,
      })),
      gaps: gapsBetween(spans).map((gap) => ({
        start_date: gap.startDate,
        end_date: gap.endDate,
        weekdays: gap.weekdays,
      })),
    };
  });
  return JSON.stringify({ symbols, count: symbols.length, ...deploymentFields(settings) });
}
