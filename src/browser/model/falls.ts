import type { Drawdown } from '../responses.ts';

/**
 * A drawdown in a plot: from its high (or the first date) to its recovery (or the last date), with
 * its number and its low.
 */
export interface Fall {
  number: number;
  from: string;
  to: string;
  low: string;
  /** Below zero. */
  depth: number;
}

/** The drawdowns in the order of the table, numbered from 1. */
export function fallsOf(drawdowns: readonly Drawdown[], dates: readonly string[]): Fall[] {
  const [first, last] = [dates[0] ?? '', dates.at(-1) ?? ''];
  return drawdowns.flatMap(
    ({ depth, peak_date: from, trough_date: low, recovery_date: to }, index) =>
      low === null
        ? []
        : { number: index + 1, from: from ?? first, to: to ?? last, low, depth: -depth },
  );
}
