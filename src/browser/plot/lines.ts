import { counted, money } from '../format.ts';
import { BENCHMARK_LOOK, type Look } from '../look.ts';
import type { ModelReport, Performance } from '../responses.ts';
import type { Mark } from './cutoffs.ts';
import type { Scale } from './scale.ts';

/** One line of a plot. */
export interface Line extends Look {
  label: string;
  /** One value per date; null where there is none. */
  values: readonly (number | null)[];
  width?: number;
  /** Whether the area between the line and zero is filled. */
  isFilled?: boolean;
  /** A band about the line: its edges, each with a value where the line has one. */
  low?: readonly (number | null)[];
  high?: readonly (number | null)[];
}

/** What a plot shows, and how. */
export interface PlotOptions {
  /** A description for readers who cannot see it. */
  label: string;
  /** Under which name its view is kept, where the description changes with what is shown. */
  keptAs?: string;
  dates: readonly string[];
  lines: readonly Line[];
  format: (value: number | null) => string;
  /** In pixels. */
  height: number;
  /** Dates with a vertical line, in order. */
  marks?: readonly Mark[];
  /** What is drawn over the lines. */
  drawOver?: (scale: Scale) => readonly SVGElement[];
  /** Called whenever the plot was drawn. */
  onDrawn?: (scale: Scale) => void;
  /** Whether the values start from zero. */
  fromZero?: boolean;
  /** Whether the first date is only where the curves start: no model has a day on it. */
  hasStart?: boolean;
  /**
   * Opens a day when the reader clicks on a curve, or chooses one with the keyboard; a benchmark
   * has no days.
   */
  onOpen?: (label: string, date: string) => void;
}

/** Whether a line's days can be opened. */
export function isOpenable({ colour }: Line): boolean {
  return colour !== BENCHMARK_LOOK.colour;
}

/** What a plot uses of a benchmark. */
export interface BenchmarkCurve extends Pick<Performance['benchmark'], 'name'> {
  curve: readonly { date: string; value: number }[];
}

/**
 * The benchmark, whose curve starts from 1, scaled to start with the models' value; no line without
 * a curve.
 */
export function benchmarkLines(
  { name, curve }: BenchmarkCurve,
  dates: readonly string[],
  start: number,
): Line[] {
  if (curve.length === 0) return [];
  const label = `${benchmarkName(name)} (benchmark)`;
  const scaled = curve.map(({ date, value }) => ({ date, value: value * start }));
  return [{ ...BENCHMARK_LOOK, label, values: valuesFromStart(dates, scaled, start), width: 2 }];
}

/**
 * What a reader of the benchmark's curve should know: where it has no prices, and where its
 * dividends are unknown.
 */
export function benchmarkWords({
  name,
  days,
  incomplete,
  days_with_unknown_dividends: unknown,
}: Pick<
  Performance['benchmark'],
  'name' | 'days' | 'incomplete' | 'days_with_unknown_dividends'
>): string {
  const dividends = `Dividends of ${name === 'universe' ? 'the universe' : name} are unknown on ${unknown} of ${counted(days, 'date')}`;
  return [incomplete, unknown > 0 ? dividends : null]
    .flatMap((words) => (words === null ? [] : `${words}.`))
    .join(' ');
}

/** The name of a benchmark, as readers know it. */
export function benchmarkName(name: string): string {
  return name === 'universe' ? 'Universe' : name;
}

/** The values of a curve on the dates; null on dates that it lacks. */
function valuesOn(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
): (number | null)[] {
  const byDate = new Map(curve.map(({ date, value }) => [date, value]));
  return dates.map((date) => byDate.get(date) ?? null);
}

const DAY_MS = 86_400_000;

/** The dates on which any of these curves has a day, in order. */
export function datesOf(curves: readonly { curve: readonly { date: string }[] }[]): string[] {
  return [...new Set(curves.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort();
}

/** The dates of curves with the weekday before the first one, on which all of them start. */
export function datesFromStart(dates: readonly string[]): string[] {
  const [first] = dates;
  if (first === undefined) return [];
  let start = Date.parse(first);
  do start -= DAY_MS;
  while ([0, 6].includes(new Date(start).getUTCDay()));
  return [new Date(start).toISOString().slice(0, 10), ...dates];
}

/** The values of a curve on the dates, with its value at the start on the date before its first. */
export function valuesFromStart(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
  start: number,
): (number | null)[] {
  const values = valuesOn(dates, curve);
  const first = values.findIndex((value) => value !== null);
  return values.map((value, index) => (index === first - 1 ? start : value));
}

/** A day of a model's curve. */
export type Day = Pick<ModelReport['curve'][number], 'date' | 'growth' | 'value'>;

/** As a share of the value: growth is rounded. */
const TOLERANCE = 1e-5;

/**
 * Whether a day's value is what the start has grown to; it is not where days between them do not
 * count.
 */
export function isGrown({ value, growth }: Day, start: number): boolean {
  return Math.abs(value - growth * start) <= TOLERANCE * start;
}

/**
 * What stands over curves that show portfolio values, or what a start would have grown to where
 * some days do not count.
 */
export function titleOfCurves(start: number, { isValue }: { isValue: boolean }): string {
  return isValue ? 'Portfolio value' : `Growth of ${money(start).replace(/\.00$/, '')} dollars`;
}

/**
 * A model's days as they are drawn beside a benchmark, with a title: its values or, where days
 * between them do not count, what its value at the start would have grown to, because the benchmark
 * does not count them either.
 */
export function daysBesideBenchmark<Own extends Day>(
  curve: readonly Own[],
  start: number,
): { title: string; days: readonly Own[] } {
  const isValue = curve.every((day) => isGrown(day, start));
  const days = isValue ? curve : curve.map((day) => ({ ...day, value: day.growth * start }));
  return { title: titleOfCurves(start, { isValue }), days };
}

/**
 * The places of the lines from the highest last value to the lowest; those without any value come
 * last.
 */
export function rankOrder(lines: readonly { values: readonly (number | null)[] }[]): number[] {
  const last = lines.map(({ values }) => values.findLast((value) => value !== null) ?? -Infinity);
  return [...lines.keys()].sort(
    (one, other) => (last[other] ?? 0) - (last[one] ?? 0) || one - other,
  );
}
