import { counted, byName, shortList, nonBreakingDate } from '../format.ts';
import { BENCHMARK_LOOK, type Look } from '../look.ts';
import type { ModelReport, Performance } from '../../responses.ts';
import { DAY_MS, isoDate, type Scale } from './scale.ts';
import { h, svg } from '../element.ts';

/** A knowledge cutoff and the entries that have it; a plot shows it as a vertical line. */
interface CutoffMark {
  date: string;
  names: string;
}

/** A run with the last date that its model may remember; null where none is known. */
type Cutoff = Pick<ModelReport, 'family' | 'knowledge_cutoff'>;

/**
 * A mark per knowledge cutoff of these runs, by date, with their entries. None for runs without
 * one.
 */
export function cutoffMarks(runs: readonly Cutoff[]): CutoffMark[] {
  const byDate = Map.groupBy(runs, ({ knowledge_cutoff: date }) => date ?? '');
  byDate.delete('');
  return [...byDate]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([date, same]) => {
      const names = [...new Set(same.map(({ family }) => family))].sort(byName);
      return { date, names: shortList(names) };
    });
}

/** The marks in words; null when there are none. */
export function cutoffText(marks: readonly CutoffMark[]): string | null {
  if (marks.length === 0) return null;
  const dates = marks.map(({ date, names }) => `${nonBreakingDate(date)} (${names})`).join(', ');
  return `Knowledge cutoff: ${dates}. A model may remember days on or before it.`;
}

/**
 * In pixels: the height of a label, of a letter about its width, and between a label and its line.
 */
const LINE = 14;
const LETTER = 6;
const GAP = 5;

/** A vertical line at each mark among the dates, each label in a row of its own. */
export function cutoffLines(marks: readonly CutoffMark[], { area, x: xOf }: Scale): SVGElement[] {
  const right = area.left + area.width;
  const shown = marks.filter(({ date }) => xOf(date) >= area.left && xOf(date) <= right);
  return shown.flatMap(({ date, names }, row) => {
    const x = xOf(date);
    const label = `cutoff: ${names}`;
    const width = label.length * LETTER;
    const left = x + GAP + width <= right ? x + GAP : Math.max(area.left, x - GAP - width);
    return [
      svg('line', { class: 'cutoff', x1: x, x2: x, y1: area.top, y2: area.top + area.height }),
      svg('text', { class: 'label', x: left, y: area.top + 11 + row * LINE }, label),
    ];
  });
}

/** The cutoffs in words, for a paragraph under a plot. */
export function cutoffNote(marks: readonly CutoffMark[]): HTMLElement | null {
  const words = cutoffText(marks);
  return words === null ? null : h('p.quiet', words);
}

/** One line of a plot. */
export interface Line extends Look {
  label: string;
  /** One value per date; null where there is none. */
  values: readonly (number | null)[];
  /** A band about the line: its edges, each with a value where the line has one. */
  low?: readonly (number | null)[];
  high?: readonly (number | null)[];
}

/** What a plot shows, and how. */
export interface PlotOptions {
  /** A description for readers who cannot see it. */
  label: string;
  /** Under which name its view is kept, where the description changes with what is shown. */
  historyKey?: string;
  /** The first one is only where the curves start: no model has a day on it. */
  dates: readonly string[];
  lines: readonly Line[];
  format: (value: number | null) => string;
  /** In pixels. */
  height: number;
  /** Dates with a vertical line, in order. */
  marks?: readonly CutoffMark[];
  /** What is drawn over the lines. */
  drawOver?: (scale: Scale) => readonly SVGElement[];
  /** Called whenever the plot was drawn. */
  onDrawn?: (scale: Scale) => void;
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
  return [{ ...BENCHMARK_LOOK, label, values: valuesFromStart(dates, scaled, start) }];
}

/**
 * What a reader of the benchmark's curve should know: where it has no prices, and where its
 * dividends are unknown.
 */
export function benchmarkNotes({
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

/** The dates on which any of these curves has a day, in order. */
export function curveDates(curves: readonly { curve: readonly { date: string }[] }[]): string[] {
  return [...new Set(curves.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort();
}

/** The dates of curves with the weekday before the first one, on which all of them start. */
export function datesFromStart(dates: readonly string[]): string[] {
  const [first] = dates;
  if (first === undefined) return [];
  let start = Date.parse(first);
  do start -= DAY_MS;
  while ([0, 6].includes(new Date(start).getUTCDay()));
  return [isoDate(start), ...dates];
}

/**
 * The values of a curve on the dates, with its value at the start on the date before its
 * first; null where it has none.
 */
export function valuesFromStart(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
  start: number,
): (number | null)[] {
  const byDate = new Map(curve.map(({ date, value }) => [date, value]));
  const values = dates.map((date) => byDate.get(date) ?? null);
  const first = values.findIndex((value) => value !== null);
  return values.map((value, index) => (index === first - 1 ? start : value));
}

/** A day of a model's curve. */
export type Day = Pick<ModelReport['curve'][number], 'date' | 'growth' | 'value'>;

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
