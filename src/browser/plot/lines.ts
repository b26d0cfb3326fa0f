import type uPlot from 'uplot';
import type { Performance } from '../service/responses.ts';
import type { Mark } from './marks.ts';

/** One line of a plot. */
export interface Line {
  label: string;
  /** One value per date; null where there is none. */
  values: readonly (number | null)[];
  /** The class of the style sheet that gives its colour. */
  look: string;
  dash?: number[];
  width?: number;
  /** Whether the area between the line and zero is filled. */
  isFilled?: boolean;
}

export interface PlotOptions {
  /** A description for readers who cannot see it. */
  label: string;
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
}

/** Session dates have no hours: a plot's axis and zoom use whole days. */
export const DAY_SECONDS = 86_400;

/** The values of a curve on the dates; null on dates that it lacks. */
export function valuesOn(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
): (number | null)[] {
  const byDate = new Map(curve.map(({ date, value }) => [date, value]));
  return dates.map((date) => byDate.get(date) ?? null);
}

/** The benchmark, whose curve starts from 1, scaled to start with the models' value; no line without a curve. */
export function benchmarkLines(
  { name, curve }: Performance['benchmark'],
  dates: readonly string[],
  start: number,
): Line[] {
  if (curve.length === 0) return [];
  const label = `${benchmarkName(name)} (benchmark)`;
  const scaled = curve.map(({ date, value }) => ({ date, value: value * start }));
  return [{ label, values: valuesOn(dates, scaled), look: 'benchmark', dash: [4, 4], width: 2 }];
}

export function benchmarkName(name: string): string {
  return name === 'universe' ? 'Equal-weight universe' : name;
}
