import type { CalendarDate } from '../calendar.ts';
import { ROUNDING } from './conventions.ts';
import { type Figure, ratio } from './figure.ts';
import type { DailyReturn, ReturnSeries } from './returns.ts';

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

/**
 * The maximum drawdown of the linked daily returns, the start included as a possible high (Bacon
 * 2008).
 */
export function maxDrawdown(series: ReturnSeries): Drawdown {
  const [deepest] = deepestDrawdowns(series, 1);
  return deepest ?? { depth: 0, peakDate: null, troughDate: null, recoveryDate: null, length: 0 };
}

/**
 * The deepest drawdowns, each from a high until that is reached again, so that no two share a day;
 * the deepest first, the earlier of equals first.
 */
export function deepestDrawdowns({ days }: ReturnSeries, most: number): Drawdown[] {
  const dateOf = (index: number | null) => days[index ?? -1]?.date ?? null;
  return deepestFalls(fallsOf(days), most).map(({ depth, peak, trough, recovery }) => ({
    depth,
    peakDate: dateOf(peak),
    troughDate: dateOf(trough),
    recoveryDate: dateOf(recovery),
    length: (recovery ?? days.length - 1) - peak,
  }));
}

/** Every fall from a high, in order; the last one may have no recovery. */
function fallsOf(days: readonly DailyReturn[]): Fall[] {
  const falls: Fall[] = [];
  let fall: Fall | null = null;
  let [growth, high, peak] = [1, 1, -1];
  for (const [index, { dailyReturn }] of days.entries()) {
    growth *= 1 + dailyReturn;
    const depth = 1 - growth / high;
    if (depth > ROUNDING) {
      if (fall === null) falls.push((fall = { depth, peak, trough: index, recovery: null }));
      else if (depth > fall.depth + ROUNDING) [fall.depth, fall.trough] = [depth, index];
      continue;
    }
    if (fall !== null) fall.recovery = index;
    fall = null;
    high = Math.max(high, growth);
    peak = index;
  }
  return falls;
}

/** A later fall counts as deeper only by more than rounding. */
function deepestFalls(falls: readonly Fall[], most: number): Fall[] {
  const left = [...falls];
  const found: Fall[] = [];
  while (found.length < most && left.length > 0) {
    const deepest = left.reduce((one, other) => (other.depth > one.depth + ROUNDING ? other : one));
    found.push(deepest);
    left.splice(left.indexOf(deepest), 1);
  }
  return found;
}

/**
 * The annualised return over the depth of the maximum drawdown (Young, Calmar Ratio, Futures,
 * 1991), over the whole curve.
 */
export function calmarRatio(annualised: Figure, { depth }: Drawdown): Figure {
  return ratio(annualised, depth, 'The value never fell');
}
