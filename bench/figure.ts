import { type Aim, number, verdict, verdictOfSelf } from './aims.ts';
import { calibrate, calibrateOften } from './calibration.ts';
import { untilIdle } from './idle.ts';
import {
  BOUNDS,
  type Bounds,
  MIN_FOR_INTERVAL,
  type Pair,
  type Ratios,
  type Slice,
  alternate,
  inTurn,
  median,
  ratiosOf,
  ratiosOfStarts,
  takePairs,
} from './paired.ts';
import type { Measurement } from './support.ts';

/** A figure of the report: what is measured, beside what, and what it should be. */
export interface Figure {
  what: string;
  unit: string;
  peer: string;
  aims?: readonly Aim[];
  /**
   * A slice gives the longest of many times: then the longest of all counts for an aim here and
   * now, not the median.
   */
  isLongest?: boolean;
}

/** How its pairs are taken. */
export interface Taking {
  take: (index: number) => Promise<Pair>;
  bounds?: Partial<Bounds>;
}

/** What was measured besides the pairs. */
export interface Beside {
  /** By default each pair is independent of the others. */
  ratios?: Ratios;
  /** What the calibration took meanwhile, in milliseconds. */
  calibrations?: readonly number[];
  /** The figure that counts for an aim here and now, where it does not follow from the pairs. */
  hereMs?: number;
}

/** The peer in a run that measures the same build against itself: such a figure should show 1. */
export const ITSELF = 'the same build';
const CALIBRATION = 'the calibration';

/**
 * Measures a figure against its peer, in pairs. For a time in milliseconds the calibration runs
 * after each pair, and the report gives its median too: it shows how fast the machine was
 * meanwhile.
 */
export async function measure({ take, bounds, ...figure }: Figure & Taking): Promise<Measurement> {
  const calibrations: number[] = [];
  const isTime = figure.unit === 'ms' && figure.peer !== CALIBRATION;
  const takeBoth = async (index: number) => {
    const pair = await take(index);
    if (isTime) calibrations.push(await calibrate());
    return pair;
  };
  return describePairs(figure, await takePairs(takeBoth, { ...BOUNDS, ...bounds }), {
    calibrations,
  });
}

/** How a time is measured beside the calibration. */
export interface BesideCalibration {
  /** The aim, for a quiet machine. */
  belowMs?: number;
  bounds?: Partial<Bounds>;
  /**
   * A slice takes seconds: pairs have one slice of each, and the calibration runs more often for
   * its own.
   */
  isLong?: boolean;
  self: boolean;
}

/** A time in milliseconds beside the calibration. */
export function besideCalibration(
  what: string,
  slice: Slice,
  { belowMs, bounds = {}, isLong, self }: BesideCalibration,
): Promise<Measurement> {
  const pair = isLong ? inTurn : alternate;
  const peer = () => untilIdle().then(isLong ? calibrateOften : calibrate);
  const aims = belowMs === undefined ? [] : [{ belowMs }];
  const take = pair(slice, self ? slice : peer);
  return measure({ what, unit: 'ms', peer: self ? ITSELF : CALIBRATION, aims, take, bounds });
}

/** One figure of the report from pairs that have been taken. */
export function describePairs(
  { what, unit, peer, aims = [], isLongest = false }: Figure,
  pairs: readonly Pair[],
  { ratios = ratiosOf(pairs), calibrations = [], hereMs }: Beside = {},
): Measurement {
  if (pairs.length === 0) return { what, ours: 'not measured: too few samples in the time' };
  const side = (of: 'ours' | 'peer') => median(pairs.map((pair) => pair[of]));
  const here = isLongest ? Math.max(...pairs.map(({ ours }) => ours)) : side('ours');
  const found = { ratio: ratios.median, pairs, hereMs: hereMs ?? here };
  const beside =
    calibrations.length === 0 ? '' : ` where the calibration takes ${number(median(calibrations))}`;
  return {
    what: `${what}, ${unit}`,
    ours: `${number(side('ours'))}${beside}`,
    peer: `${number(side('peer'))} (${peer})`,
    ratio: describeRatios(ratios),
    aims: peer === ITSELF ? [verdictOfSelf(ratios)] : aims.map((aim) => verdict(aim, found)),
  };
}

/** One figure of the report from the pairs of several starts of both programs. */
export function describeStarts(figure: Figure, starts: readonly (readonly Pair[])[]): Measurement {
  return describePairs(figure, starts.flat(), { ratios: ratiosOfStarts(starts) });
}

function describeRatios({
  min,
  median: middle,
  max,
  pairs,
  independent,
  low,
  high,
}: Ratios): string {
  const starts = independent === pairs ? '' : ` of ${independent} starts`;
  const interval =
    independent < MIN_FOR_INTERVAL
      ? 'too few for an interval'
      : `95 % interval ${number(low)} to ${number(high)}`;
  const count = `${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${starts}`;
  return `median ${number(middle)}, min ${number(min)}, max ${number(max)}, ${count}, ${interval}`;
}
