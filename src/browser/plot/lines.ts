import type uPlot from 'uplot';

/** One line of a plot. */
export interface Line {
  label: string;
  /** One value per date; null where there is none. */
  values: readonly (number | null)[];
  /** The class of the style sheet that gives its colour. */
  look: string;
  dash?: number[];
  width?: number;
  /** Whether the area between it and zero is filled. */
  isFilled?: boolean;
}

export interface ChartOptions {
  /** What it shows, for those who do not see it. */
  label: string;
  dates: readonly string[];
  lines: readonly Line[];
  format: (value: number | null) => string;
  height: number;
  /** Plots with the same key share the cursor and the zoom. */
  group?: string;
  /** Draws over the lines, in pixels of the canvas. */
  drawOver?: (plot: uPlot) => void;
  /** Whether the values start from zero. */
  fromZero?: boolean;
}

export function benchmarkName(name: string): string {
  return name === 'universe' ? 'Equal-weight universe' : name;
}
