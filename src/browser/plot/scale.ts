import { monthOf } from '../format.ts';

/** The range of a plot and the labels of its axes. */

const PADDING = 0.06;
/** How far a plot reaches above and below values that are all zero. */
const FLAT = 0.01;
/** Small plots, such as those of drawdowns, are to have three labels at least. */
const PIXELS_PER_LABEL = 36;

/** The values from the lowest to the highest with a margin; from zero where zero is meaningful. */
export function paddedRange(
  low: number | null,
  high: number | null,
  { isLog, fromZero }: { isLog: boolean; fromZero: boolean },
): [number, number] {
  if (low === null || high === null) return [isLog ? 1 : 0, isLog ? 10 : 1];
  if (isLog) {
    const floor = Math.max(low, 1e-4);
    const margin = Math.max((high / floor) ** PADDING, 1.002);
    return [floor / margin, Math.max(high, floor) * margin];
  }
  const [bottom, top] = fromZero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
  if (fromZero && bottom === top) return [-FLAT, FLAT];
  const margin = (top - bottom || Math.abs(top) || 1) * PADDING;
  return [fromZero && bottom === 0 ? 0 : bottom - margin, fromZero && top === 0 ? 0 : top + margin];
}

const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Round values inside the range, as many as fit but at least two; on a logarithmic scale the same
 * ones serve within a decade or two.
 */
export function axisSplits(low: number, high: number, height: number): number[] {
  const wanted = Math.max(2, Math.floor(height / PIXELS_PER_LABEL));
  const rough = (high - low) / wanted;
  if (!(rough > 0)) return [low];
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const place = STEPS.findIndex((factor) => factor * magnitude >= rough);
  const wide = splitsEvery((STEPS[place] ?? 10) * magnitude, low, high);
  return wide.length > 1 ? wide : splitsEvery((STEPS[place - 1] ?? 0.5) * magnitude, low, high);
}

function splitsEvery(step: number, low: number, high: number): number[] {
  const splits: number[] = [];
  // Steps are counted, because added they miss zero by a little.
  for (let steps = Math.ceil(low / step) + 0; steps * step <= high + step * 1e-9; steps += 1)
    splits.push(Number((steps * step).toPrecision(12)));
  return splits;
}

/**
 * `1,000.00`, `1,500.00` → `1,000`, `1,500`; but where one of them needs its cents, all keep
 * theirs.
 */
export function withoutEmptyCents(labels: readonly string[]): string[] {
  const areEmpty = labels.every((label) => /\.00(?!\d)/.test(label));
  return labels.map((label) => (areEmpty ? label.replace(/\.00(?!\d)/, '') : label));
}

/** Seconds of midnights in UTC as `28 Aug`; the year below where it begins. */
export function dateLabels(seconds: readonly number[]): string[] {
  const dates = seconds.map((second) => new Date(second * 1000).toISOString().slice(0, 10));
  return dates.map((date, index) => {
    const day = `${Number(date.slice(8))} ${monthOf(date).slice(0, 3)}`;
    return dates[index - 1]?.slice(0, 4) === date.slice(0, 4) ? day : `${day}\n${date.slice(0, 4)}`;
  });
}

/**
 * The highest of the values and of `least`; `least` for none. As arguments of one call (`Math.max`)
 * a browser takes some ten thousand at most.
 */
export function highest(values: readonly number[], least = -Infinity): number {
  return values.reduce((most, value) => Math.max(most, value), least);
}

/** The lowest of the values and of `most`; `most` for none. */
export function lowest(values: readonly number[], most = Infinity): number {
  return values.reduce((least, value) => Math.min(least, value), most);
}
