import { byName } from '../format.ts';

/** A knowledge cutoff and the entries that have it; a plot shows it as a vertical line. */
export interface Mark {
  date: string;
  names: string;
}

/** The place of a label in a plot: its ends in pixels of the canvas, and its row. */
export interface Box {
  left: number;
  right: number;
  row?: number;
}

/**
 * The first row in which a label covers none of those before it; the label takes its place there.
 */
export function freeRow(boxes: Box[], { left, right }: Box): number {
  const covered = new Set(
    boxes.filter((box) => box.left < right && left < box.right).map(({ row }) => row),
  );
  let row = 0;
  while (covered.has(row)) row += 1;
  boxes.push({ left, right, row });
  return row;
}

/** How many models a mark names; the others are counted. */
const MAX_NAMED = 3;

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
      const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
      return { date, names: names.slice(0, MAX_NAMED).join(', ') + more };
    });
}

/** The marks in words; null when there are none. */
export function cutoffWords(marks: readonly Mark[]): string | null {
  if (marks.length === 0) return null;
  const dates = marks.map(({ date, names }) => `${date} (${names})`).join(', ');
  return `Knowledge cutoff: ${dates}. A model may remember days on or before it.`;
}
