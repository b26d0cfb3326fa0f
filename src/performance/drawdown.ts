import type { CalendarDate } from '../calendar.ts';
import { ROUNDING } from './conventions.ts';
import { type Figure, ratio } from './figure.ts';
import type { ReturnSeries } from './returns.ts';

/** The deepest fall from a high. */
export interface Drawdown {
  /** The loss from the high to the low, as a fraction of the high; 0 when the value never fell. */
  depth: number;
  /** Null when the high is the value at the start of the first day, or when there was no fall. */
  peakDate: CalendarDate | null;
  troughDate: CalendarDate | null;
  /** The first day back at the high; null when it was never reached again. */
  recoveryDate: CalendarDate | null;
  /** Days from the one after the high through the recovery, or through the last day. */
  length: number;
}

interface Fall {
  depth: number;
  peak: number;
  trough: number;
  recovery: number | null;
}

/** The maximum drawdown of the linked daily returns, the start included as a possible high (Bacon 2008). */
export function maxDrawdown({ days }: ReturnSeries): Drawdown {
  let deepest: Fall = { depth: 0, peak: -1, trough: -1, recovery: null };
  let [growth, high, peak] = [1, 1, -1];
  days.forEach(({ dailyReturn }, index) => {
    growth *= 1 + dailyReturn;
    const depth = 1 - growth / high;
    if (depth > deepest.depth + ROUNDING) deepest = { depth, peak, trough: index, recovery: null };
    if (depth > ROUNDING) return;
    if (deepest.depth > 0) deepest.recovery ??= index;
    high = Math.max(high, growth);
    peak = index;
  });
  const { depth, trough, recovery } = deepest;
  if (depth === 0) return { depth, peakDate: null, troughDate: null, recoveryDate: null, length: 0 };
  const dateOf = (index: number | null) => days[index ?? -1]?.date ?? null;
  const end = recovery ?? days.length - 1;
  return {
    depth,
    peakDate: dateOf(deepest.peak),
    troughDate: dateOf(trough),
    recoveryDate: dateOf(recovery),
    length: end - deepest.peak,
  };
}

/** The annualised return over the depth of the maximum drawdown (Young, Calmar Ratio, Futures, 1991), over the whole curve. */
export function calmarRatio(annualised: Figure, { depth }: Drawdown): Figure {
  return ratio(annualised, depth, 'The value never fell');
}
