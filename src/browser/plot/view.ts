import { DAY_SECONDS, paddedRange } from './scale.ts';

/** Which part of its data a plot shows, and where on the canvas. */

export interface Range {
  min: number;
  max: number;
}

/** The area of the lines, between the axes, in CSS pixels of the canvas. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface View {
  area: Area;
  /** In seconds, as are all dates here. */
  dates: readonly number[];
  x: Range;
  y: Range;
  isLog: boolean;
}

/** What a view is worked out from, of all that a plot is made from. */
export interface Data {
  dates: readonly string[];
  lines: readonly { values: readonly (number | null)[] }[];
  /** Whether the values start from zero. */
  fromZero?: boolean;
}

export interface Chosen {
  area: Area;
  /** The dates that the reader has zoomed to; null for all. */
  zoomed: Range | null;
  hidden: ReadonlySet<number>;
  isLog: boolean;
}

/** The dates in view, and the values that the lines in view have on them. */
export function viewOf({ dates: names, lines, fromZero = false }: Data, chosen: Chosen): View {
  const { area, zoomed, hidden, isLog } = chosen;
  const dates = names.map((date) => Date.parse(date) / 1000);
  const x = zoomed ?? wholeRange(dates);
  const [from, to] = [nearest(dates, x.min), nearest(dates, x.max)];
  const inView = lines
    .filter((_line, index) => !hidden.has(index))
    .flatMap(({ values }) => values.slice(from, to + 1))
    .filter((value): value is number => value !== null && !(isLog && value <= 0));
  const low = inView.reduce((one, other) => Math.min(one, other), Infinity);
  const high = inView.reduce((one, other) => Math.max(one, other), -Infinity);
  const [lowest, highest] = inView.length === 0 ? [null, null] : [low, high];
  const [min, max] = paddedRange(lowest, highest, { isLog, fromZero });
  return { area, dates, x, y: { min, max }, isLog };
}

/** From the first date to the last; around it when there is one. */
function wholeRange(dates: readonly number[]): Range {
  const [min = 0, max = min] = [dates[0], dates.at(-1)];
  return min < max ? { min, max } : { min: min - DAY_SECONDS, max: max + DAY_SECONDS };
}

/** The place of the date that is nearest; 0 when there are no dates. */
export function nearest(dates: readonly number[], seconds: number): number {
  let [low, high] = [0, dates.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((dates[middle] ?? 0) < seconds) low = middle;
    else high = middle;
  }
  return seconds - (dates[low] ?? 0) < (dates[high] ?? 0) - seconds ? low : Math.max(0, high);
}

/** Whether a date is in view. */
export function isInView({ x }: View, seconds: number): boolean {
  return seconds >= x.min && seconds <= x.max;
}

/** The place of the date in view that is nearest; null when none is in view. */
export function nearestInView(view: View, seconds: number): number | null {
  const place = nearest(view.dates, seconds);
  return [place, place - 1, place + 1].find((each) => isInView(view, view.dates[each] ?? NaN)) ?? null;
}

/** The part of the dates in view after zooming about a date: in with a factor below 1, out with one above. Null for all. */
export function zoomedRange({ dates, x }: View, factor: number, about = (x.min + x.max) / 2): Range | null {
  const whole = wholeRange(dates);
  const min = Math.max(whole.min, about - (about - x.min) * factor);
  const max = Math.min(whole.max, about + (x.max - about) * factor);
  if (min === whole.min && max === whole.max) return null;
  return max - min >= DAY_SECONDS ? { min, max } : x;
}

/** Where a date is, in CSS pixels from the left of the canvas. */
export function xOf({ area, x }: View, seconds: number): number {
  return area.left + ((seconds - x.min) / (x.max - x.min)) * area.width;
}

/** The date at a place; the inverse of `xOf`. */
export function secondsAt({ area, x }: View, left: number): number {
  return x.min + ((left - area.left) / area.width) * (x.max - x.min);
}

/** Where a value is, in CSS pixels from the top of the canvas. */
export function yOf({ area, y, isLog }: View, value: number): number {
  const at = isLog ? Math.log : Number;
  return area.top + area.height * (1 - (at(value) - at(y.min)) / (at(y.max) - at(y.min)));
}
