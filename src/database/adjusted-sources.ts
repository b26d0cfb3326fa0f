/** Series that are free of split jumps. A new one needs a migration, because the table's definition names them. */
export const adjustedSources: readonly string[] = ['yahoo', 'stooq', 'synthetic', 'disguise'];
export const adjustedSourcesInSql = inSql(adjustedSources);

/** Series whose prices contain dividends, or that are made up: nothing is paid on them. */
const sourcesWithDividends = ['stooq', 'synthetic'];
export const sourcesWithDividendsInSql = inSql(sourcesWithDividends);

/** Series for which no provider is asked for splits and dividends: a control market's codes, and prices that contain both. */
const closedSources = ['disguise', 'stooq'];
export const closedSourcesInSql = inSql(closedSources);

function inSql(sources: readonly string[]): string {
  return sources.map((source) => `'${source}'`).join(', ');
}
