import { QUIET_MS } from './calibration.ts';
import { type Pair, type Ratios, median } from './paired.ts';
import type { Verdict } from './support.ts';

/** How far the same build may differ from itself. */
const SELF_TOLERANCE = 0.03;

/**
 * What a figure should be. `atLeast` and `below` bound the median ratio. `belowMs` is for a figure
 * whose peer is the calibration, in milliseconds of a quiet machine. `aboveMs` bounds how many
 * milliseconds more than its peer ours may take, in the median of the differences. `hereMs` bounds
 * what was measured, however busy this machine is.
 */
export type Aim =
  | { atLeast: number }
  | { below: number }
  | { belowMs: number }
  | { aboveMs: number }
  | { hereMs: number };

/**
 * Aims for a time beside a peer: how many milliseconds more than the peer it may take, and how many
 * in all.
 */
export function aimsFor(ms: number): Aim[] {
  return [{ aboveMs: ms }, { hereMs: ms }];
}

/** What an aim is compared with. */
export interface Found {
  ratio: number;
  pairs: readonly Pair[];
  /** The figure that counts for an aim here and now, in milliseconds. */
  hereMs: number;
}

/** Whether an aim was met, with the figure that counts for it. */
export function verdict(aim: Aim, { ratio, pairs, hereMs }: Found): Verdict {
  if ('atLeast' in aim) return { aim: `>= ${aim.atLeast}`, isMet: ratio >= aim.atLeast };
  if ('below' in aim) return { aim: `< ${aim.below}`, isMet: ratio < aim.below };
  if ('hereMs' in aim)
    return {
      aim: `< ${aim.hereMs} ms here and now; it is ${number(hereMs)} ms`,
      isMet: hereMs < aim.hereMs,
    };
  if ('aboveMs' in aim) {
    const more = median(pairs.map(({ ours, peer }) => ours - peer));
    return {
      aim: `< ${aim.aboveMs} ms more than the peer; it is ${number(more)} ms`,
      isMet: more < aim.aboveMs,
    };
  }
  const quietMs = ratio * QUIET_MS;
  return {
    aim: `< ${aim.belowMs} ms where the calibration takes ${QUIET_MS} ms; it is ${number(quietMs)} ms`,
    isMet: quietMs < aim.belowMs,
  };
}

/** For the same build beside itself. */
export function verdictOfSelf({ median: middle, low, high }: Ratios): Verdict {
  const isNear = (ratio: number) => Math.abs(ratio - 1) <= SELF_TOLERANCE;
  const doubt = isNear(low) && isNear(high) ? '' : ' (the interval reaches further)';
  return { aim: `1 ± ${SELF_TOLERANCE}${doubt}`, isMet: isNear(middle) };
}

/** Three digits, and every digit before the point. */
export function number(value: number): string {
  const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
