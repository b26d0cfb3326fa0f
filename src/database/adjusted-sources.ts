/** Series that are free of split jumps. A new one needs a migration, because the table's definition names them. */
export const adjustedSources: readonly string[] = ['yahoo', 'stooq', 'synthetic', 'disguise'];
export const adjustedSourcesInSql = adjustedSources.map((source) => `'${source}'`).join(', ');

/** Series whose prices contain dividends, or that are made up: nothing is paid on them. */
const sourcesWithDividends = ['stooq', 'synthetic'];
export const sourcesWithDividendsInSql = sourcesWithDividends.map((source) => `'${source}'`).join(', ');

/** Series of which providers know no splits or dividends, or none that count: a control market's codes, and prices with both. */
export const closedSourcesInSql = `'disguise', 'stooq'`;
