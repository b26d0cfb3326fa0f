import { QUIET_MS, calibrate } from './calibration.ts';
import {
  BOUNDS,
  type Bounds,
  MIN_FOR_INTERVAL,
  type Pair,
  type Ratios,
  type Slice,
  alternate,
  median,
  ratiosOf,
  ratiosOfStarts,
  spreadOf,
  takePairs,
} from './paired.ts';
import type { Measurement } from './support.ts';

/** How far the same build may differ from itself. */
const SELF_TOLERANCE = 0.03;

/**
 * What the median ratio should be. `belowMs` is for a peer that is the calibration, in milliseconds of a quiet machine;
 * `aboveMs` bounds how many milliseconds more than its peer ours may take, in the median of the differences.
 */
export type Aim = { atLeast: number } | { below: number } | { belowMs: number } | { aboveMs: number };

/** A figure of the report: what is measured, beside what, and how. */
export interface Figure {
  what: string;
  unit: string;
  peer: string;
  take: (index: number) => Promise<Pair>;
  aim?: Aim | undefined;
  bounds?: Partial<Bounds>;
}

/** The peer in a run that measures the same build against itself: such a figure should show 1. */
export const ITSELF = 'the same build';

/** Measures a figure against its peer. */
export async function measure({ what, unit, peer, take, aim, bounds }: Figure): Promise<Measurement> {
  return describePairs({ what, unit, peer, aim }, await takePairs(take, { ...BOUNDS, ...bounds }));
}

/** A time in milliseconds beside the calibration, with an aim for a quiet machine. */
export function besideCalibration(
  what: string,
  slice: Slice,
  { belowMs, bounds, self }: { belowMs?: number; bounds?: Partial<Bounds>; self: boolean },
): Promise<Measurement> {
  const common = { what, unit: 'ms', aim: belowMs === undefined ? undefined : { belowMs }, bounds: bounds ?? {} };
  if (self) return measure({ ...common, peer: ITSELF, take: alternate(slice, slice) });
  return measure({ ...common, peer: 'the calibration', take: alternate(slice, calibrate) });
}

/** One line of the report from pairs that have been taken. */
export function describePairs(
  { what, unit, peer, aim }: Pick<Figure, 'what' | 'unit' | 'peer' | 'aim'>,
  pairs: readonly Pair[],
  ratios = ratiosOf(pairs),
): Measurement {
  if (pairs.length === 0) return { what, ours: 'not measured: too few samples in the time', peer: '', ratio: '', aim: 'none', met: null };
  const side = (of: 'ours' | 'peer') => number(spreadOf(pairs.map((pair) => pair[of])).median);
  return {
    what: `${what}, ${unit}`,
    ours: side('ours'),
    peer: `${side('peer')} (${peer})`,
    ratio: describeRatios(ratios),
    ...(peer === ITSELF ? verdictOfSelf(ratios) : verdict(aim, ratios.median, pairs)),
  };
}

/** One line of the report from the pairs of several starts of both programs. */
export function describeStarts(figure: Pick<Figure, 'what' | 'unit' | 'peer' | 'aim'>, starts: readonly (readonly Pair[])[]): Measurement {
  return describePairs(figure, starts.flat(), ratiosOfStarts(starts));
}

function describeRatios({ min, median, max, pairs, independent, low, high }: Ratios): string {
  const [least, middle, most, from, to] = [min, median, max, low, high].map(number);
  const starts = independent === pairs ? '' : ` of ${independent} starts`;
  const interval = independent < MIN_FOR_INTERVAL ? 'too few for an interval' : `95 % interval ${from} to ${to}`;
  return `median ${middle}, min ${least}, max ${most}, ${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${starts}, ${interval}`;
}

type Verdict = Pick<Measurement, 'aim' | 'met'>;

function verdictOfSelf({ median, low, high }: Ratios): Verdict {
  const isNear = (ratio: number) => Math.abs(ratio - 1) <= SELF_TOLERANCE;
  const doubt = isNear(low) && isNear(high) ? '' : ' (the interval reaches further)';
  return { aim: `1 ± ${SELF_TOLERANCE}${doubt}`, met: isNear(median) };
}

function verdict(aim: Aim | undefined, ratio: number, pairs: readonly Pair[]): Verdict {
  if (aim === undefined) return { aim: 'none', met: null };
  if ('atLeast' in aim) return { aim: `>= ${aim.atLeast}`, met: ratio >= aim.atLeast };
  if ('below' in aim) return { aim: `< ${aim.below}`, met: ratio < aim.below };
  if ('aboveMs' in aim) {
    const more = median(pairs.map(({ ours, peer }) => ours - peer));
    return { aim: `< ${aim.aboveMs} ms more than the peer; it is ${number(more)} ms`, met: more < aim.aboveMs };
  }
  const quietMs = ratio * QUIET_MS;
  return { aim: `< ${aim.belowMs} ms where the calibration takes ${QUIET_MS} ms; it is ${number(quietMs)} ms`, met: quietMs < aim.belowMs };
}

/** Three digits, and every digit before the point. */
function number(value: number): string {
  const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
