import { h, svg } from '../element.ts';
import { byName, shortList, unbrokenDate } from '../format.ts';
import type { Scale } from './scale.ts';

/** A knowledge cutoff and the entries that have it; a plot shows it as a vertical line. */
export interface Mark {
  date: string;
  names: string;
}

/** A run with the last date that its model may remember; null where none is known. */
interface Cutoff {
  family: string;
  knowledge_cutoff: string | null;
}

/**
 * A mark per knowledge cutoff of these runs, by date, with their entries. None for runs without
 * one.
 */
export function cutoffMarks(runs: readonly Cutoff[]): Mark[] {
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
export function cutoffWords(marks: readonly Mark[]): string | null {
  if (marks.length === 0) return null;
  const dates = marks.map(({ date, names }) => `${unbrokenDate(date)} (${names})`).join(', ');
  return `Knowledge cutoff: ${dates}. A model may remember days on or before it.`;
}

/** In pixels: the height of a label, of a letter about its width, and between a label and its line. */
const LINE = 14;
const LETTER = 6;
const GAP = 5;

/** A vertical line at each mark among the dates, each label in a row of its own. */
export function cutoffLines(marks: readonly Mark[], { area, x: xOf }: Scale): SVGElement[] {
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
export function cutoffNote(marks: readonly Mark[]): HTMLElement | null {
  const words = cutoffWords(marks);
  return words === null ? null : h('p.quiet', words);
}
