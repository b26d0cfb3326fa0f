import { monthText } from '../format.ts';

/** The range of a plot and the labels of its axes. */

/** Where dates and values are in a drawing. */
export interface Scale {
  area: { left: number; top: number; width: number; height: number };
  /** The middle of each date, from left to right. */
  xs: readonly number[];
  /** Horizontal place of a date, also between the plot's dates. */
  x(date: string): number;
  y(value: number): number;
  /** The values with a line across. */
  ticks: readonly number[];
}

const PADDING = 0.06;
/** Small plots, such as those of drawdowns, are to have three labels at least. */
const PIXELS_PER_LABEL = 30;

/** From the lowest to the highest of the values, with a margin. */
export function paddedRange(values: readonly number[], isLog = false): [number, number] {
  if (values.length === 0) return [isLog ? 1 : 0, isLog ? 10 : 1];
  const [low, high] = [lowest(values), highest(values)];
  if (!isLog) {
    const margin = (high - low || Math.abs(high) || 1) * PADDING;
    return [low - margin, high + margin];
  }
  const floor = Math.max(low, 1e-4);
  const margin = Math.max((high / floor) ** PADDING, 1.002);
  return [floor / margin, Math.max(high, floor) * margin];
}

const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Round values inside the range, as many as fit but at least two; on a logarithmic scale the same
 * ones serve within a decade or two.
 */
export function valueTicks(low: number, high: number, height: number): number[] {
  const wanted = Math.max(2, Math.floor(height / PIXELS_PER_LABEL));
  const rough = (high - low) / wanted;
  if (!(rough > 0)) return [low];
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const place = STEPS.findIndex((factor) => factor * magnitude >= rough);
  const wide = ticksEvery((STEPS[place] ?? 10) * magnitude, low, high);
  return wide.length > 1 ? wide : ticksEvery((STEPS[place - 1] ?? 0.5) * magnitude, low, high);
}

function ticksEvery(step: number, low: number, high: number): number[] {
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
export function trimEmptyCents(labels: readonly string[]): string[] {
  const areEmpty = labels.every((label) => /\.00(?!\d)/.test(label));
  return labels.map((label) => (areEmpty ? label.replace(/\.00(?!\d)/, '') : label));
}

export const DAY_MS = 86_400_000;
/** In pixels: the room that the label of a date needs. */
const PIXELS_PER_DATE = 62;
const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120];

/** Dates for the labels of an axis: every so many days, or firsts of months, as many as fit. */
export function dateTicks(dates: readonly string[], width: number): string[] {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [Date.parse(first), Date.parse(last)];
  const days = Math.max(1, (to - from) / DAY_MS);
  const least = (days * PIXELS_PER_DATE) / width;
  const step = DAY_STEPS.find((wide) => wide >= least);
  if (step !== undefined)
    return Array.from({ length: Math.floor((to - from) / DAY_MS / step) + 1 }, (_, count) =>
      isoDate(from + count * step * DAY_MS),
    );
  const months = MONTH_STEPS.find((wide) => wide * 30 >= least) ?? Infinity;
  const year = Number(first.slice(0, 4));
  return Array.from({ length: (Number(last.slice(0, 4)) - year + 1) * 12 }, (_, month) => month)
    .filter((month) => month % months === 0)
    .map((month) => isoDate(Date.UTC(year, month, 1)))
    .filter((date) => first <= date && date <= last);
}

/** The date of an instant. */
export function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Dates as `28 Aug`; the year in a second line where it begins. */
export function dateLabels(dates: readonly string[]): string[][] {
  return dates.map((date, index) => {
    const day = `${Number(date.slice(8))} ${monthText(date).slice(0, 3)}`;
    const year = date.slice(0, 4);
    return dates[index - 1]?.slice(0, 4) === year ? [day] : [day, year];
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
