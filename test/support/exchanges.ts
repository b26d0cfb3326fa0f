import type { Exchange } from '../../src/core/database/exchanges.ts';

/** `GE 2025-11-11 0 GEV 1 4 yes`: symbol, date, cash, into, new for old, whether it remains. */
export function readExchanges(rows: string): Exchange[] {
  return rows.split('\n').flatMap((row) => {
    const [symbol, date, cash, into = '', numerator, denominator, remains] = row
      .trim()
      .split(/\s+/);
    if (!symbol || !date) return [];
    return [
      {
        ...{ symbol, date, into, cash: Math.round(Number(cash) * 1_000_000) },
        ...{ numerator: numerator ? Number(numerator) : null },
        ...{ denominator: denominator ? Number(denominator) : null, remains: remains ? 1 : 0 },
      },
    ];
  });
}
