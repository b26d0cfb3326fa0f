import { asArray, asObject } from '../../json.ts';
import { type Kept, keep } from '../history.ts';
import type { PlotOptions } from './lines.ts';
import { DAY_SECONDS } from './values.ts';

/** The part of the dates in view, in seconds. */
export interface Range {
  min: number;
  max: number;
}

/**
 * What a plot keeps over Back: the dates in view, which plots of a group share, hidden lines by
 * name, and the scale.
 */
interface KeptView {
  zoom: Kept;
  hidden: Kept;
  isLog: Kept;
}

/** What is kept of a plot, under its name or that of its group. */
export function keptView({ label, keptAs = label, group = keptAs }: PlotOptions): KeptView {
  return {
    zoom: keep(`zoom ${group}`),
    hidden: keep(`hidden ${keptAs}`),
    isLog: keep(`log ${keptAs}`),
  };
}

/** The kept zoom; null when all dates were in view, or when it shows less than a day of these. */
export function keptRange({ zoom }: KeptView, dates: readonly string[]): Range | null {
  const { min, max } = asObject(zoom.read()) ?? {};
  if (typeof min !== 'number' || typeof max !== 'number') return null;
  const [first = NaN, last = NaN] = [dates[0], dates.at(-1)].map(
    (date) => Date.parse(date ?? '') / 1000,
  );
  return Math.min(max, last) - Math.max(min, first) >= DAY_SECONDS ? { min, max } : null;
}

/** The places of the lines that were hidden. */
export function keptHidden({ hidden }: KeptView, { lines }: PlotOptions): Set<number> {
  const names = asArray(hidden.read()) ?? [];
  return new Set(lines.flatMap(({ label }, place) => (names.includes(label) ? [place] : [])));
}
