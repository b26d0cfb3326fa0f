/**
 * What the prices of a series are: as they traded, without the jumps of splits, or without those
 * and with dividends in them.
 */
export const meanings = ['raw', 'split-adjusted', 'total-return'] as const;
export type Meaning = (typeof meanings)[number];

/**
 * Series that are free of split jumps. A new one changes the schema, because the definition of a
 * table names them.
 */
const adjustedSources: readonly string[] = [
  'yahoo',
  'stooq',
  'synthetic',
  'disguise',
  'file-split-adjusted',
  'file-total-return',
];
export const adjustedSourcesInSql = sqlList(adjustedSources);

/** Series whose prices contain dividends, or that are made up: nothing is paid on them. */
const sourcesWithDividends = ['stooq', 'file-total-return', 'synthetic'];
export const sourcesWithDividendsInSql = sqlList(sourcesWithDividends);

/**
 * Series for which no provider is asked for splits and dividends: a control market's codes, and
 * prices that contain both.
 */
const closedSources = ['disguise', 'stooq', 'file-total-return'];
export const closedSourcesInSql = sqlList(closedSources);

export function priceMeaning(source: string): Meaning {
  if (!adjustedSources.includes(source)) return 'raw';
  return sourcesWithDividends.includes(source) ? 'total-return' : 'split-adjusted';
}

function sqlList(sources: readonly string[]): string {
  return sources.map((source) => `'${source}'`).join(', ');
}

/** SQL: whether the series of a symbol has bars of some sources. */
export function hasBarsSql(sources: string, symbol: string, bars = 'price_data'): string {
  return `EXISTS (SELECT 1 FROM ${bars} AS price_data
    WHERE price_data.symbol = ${symbol} AND price_data.source IN (${sources}))`;
}

/**
 * SQL: the splits of a symbol since a date, in order, as '2024-06-10 10:1, 2025-01-02 2:1', where an
 * amount of that date is converted by them; '' otherwise. `isConverted` may be slow: it is asked
 * only where there are splits.
 */
function convertingSplits(since: string, isConverted: string, splits = 'stock_splits'): string {
  return `coalesce((SELECT group_concat(date || ' ' || numerator || ':' || denominator, ', ' ORDER BY date)
      FROM ${splits} AS split WHERE ${since} HAVING count(*) > 0 AND ${isConverted}), '')`;
}

/**
 * SQL: the splits that convert the amount of a row of `dividends` to the shares of its series. An
 * amount as paid is divided by those from its ex-date on for a series that is free of split jumps; a
 * split-adjusted amount is multiplied by them for a raw one.
 */
export function splitsOfDividend(
  isAdjusted = hasBarsSql(adjustedSourcesInSql, 'dividends.symbol'),
  splits?: string,
): string {
  const since = 'split.symbol = dividends.symbol AND split.date >= dividends.ex_date';
  return convertingSplits(since, `(dividends.basis = 'split_adjusted') <> ${isAdjusted}`, splits);
}

/** SQL: the splits after a row of `exchanges` of one of its two symbols, if its series is adjusted. */
export function splitsOfExchange(
  column: 'symbol' | 'into_symbol',
  { bars, splits }: { bars?: string; splits?: string } = {},
): string {
  const since = `split.symbol = exchanges.${column} AND split.date > exchanges.date`;
  const isAdjusted = hasBarsSql(adjustedSourcesInSql, `exchanges.${column}`, bars);
  return convertingSplits(since, isAdjusted, splits);
}
