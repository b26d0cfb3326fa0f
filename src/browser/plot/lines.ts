import type uPlot from 'uplot';
import { counted } from '../format.ts';
import { BENCHMARK_LOOK, type Look } from '../look.ts';
import type { Performance } from '../responses.ts';
import type { Mark } from './marks.ts';
import { valuesFromStart } from './values.ts';

/** One line of a plot. */
export interface Line extends Pick<Look, 'dash' | 'marker'> {
  label: string;
  /** One value per date; null where there is none. */
  values: readonly (number | null)[];
  /** The class of the style sheet that gives its colour. */
  look: string;
  width?: number;
  /** Whether the area between the line and zero is filled. */
  isFilled?: boolean;
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
  /** Plots with the same key share the cursor and the zoom. */
  group?: string;
  /** Dates with a vertical line, in order. */
  marks?: readonly Mark[];
  /** Draws over the lines, in pixels of the canvas. */
  drawOver?: (plot: uPlot) => void;
  /** Whether the values start from zero. */
  fromZero?: boolean;
  /** Whether the first date is only where the curves start: no model has a day on it. */
  hasStart?: boolean;
  /**
   * Opens a day when the reader clicks on a curve, or chooses one with the keyboard; a benchmark
   * has no days.
   */
  onOpen?: (label: string, date: string) => void;
  /**
   * Whether the lines are areas, each on top of those after it. The values that readers read are
   * each line's own.
   */
  isStacked?: boolean;
}

/** How a line looks beside its name. */
export function lookOfLine({ look, dash, marker }: Line): Look {
  return { colour: look, dash, marker };
}

/** Whether a line's days can be opened. */
export function isOpenable({ look }: Line): boolean {
  return look !== BENCHMARK_LOOK.colour;
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
  const { colour: look, dash } = BENCHMARK_LOOK;
  return [{ label, values: valuesFromStart(dates, scaled, start), look, dash, width: 2 }];
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
  return name === 'universe' ? 'Equal-weight universe' : name;
}
