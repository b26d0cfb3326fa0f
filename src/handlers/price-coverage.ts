import * as v from 'valibot';
import { countBars, coverageSpans, symbolPrices } from '../database/price-coverage.ts';
import { normaliseSymbol } from '../domain.ts';
import { gapsBetween } from '../prices/coverage.ts';
import { type Answer, type Context, type Input, deploymentFields } from './handler.ts';
import { dateText, deploymentEntries, timestampText } from './schemas.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));

export const coverageQuery = v.object({
  symbol: v.optional(
    v.pipe(
      v.string(),
      v.transform(normaliseSymbol),
      v.check((symbol) => symbol !== null, 'is not a ticker symbol'),
    ),
  ),
  /** Symbols with a bar on this date alone: what a universe as of that date can be made of. */
  date: v.optional(dateText),
});

export const coverageResponse = v.object({
  symbols: v.array(
    v.object({
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
        v.object({ source: v.string(), start_date: dateText, end_date: dateText, recorded_at: timestampText }),
      ),
      gaps: v.array(v.object({ start_date: dateText, end_date: dateText, weekdays: countSchema })),
    }),
  ),
  count: countSchema,
  ...deploymentEntries,
});

/** What is known of the prices of each symbol, of one symbol, or of those with a bar on a date. */
export function priceCoverage(
  { database, settings }: Context,
  { query }: Input<v.InferOutput<typeof coverageQuery>>,
): Answer {
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
