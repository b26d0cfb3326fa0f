import { asObject } from '../../json.ts';
import { keep } from './kept.ts';
import { byName } from './names.ts';

/** The column that a table is sorted by, as its place; null for the given order. */
export type Sorting = { column: number; isDescending: boolean } | null;

/** What sorting needs of a column. */
interface Sortable<Row> {
  title: string;
  /** Nulls come last in both directions. A column without it does not sort. */
  by?: (row: Row) => number | string | null;
}

interface KeptRows {
  /** Undefined if the reader has changed nothing. */
  sorting: Sorting | undefined;
  limit: number | undefined;
  write(sorting: Sorting, limit: number): void;
}

/**
 * What a table keeps over Back: the column that it is sorted by, by its title, and how many rows it
 * shows.
 */
export function keptRows(caption: string, columns: readonly { title: string }[]): KeptRows {
  const kept = keep(`table ${caption}`);
  const { by, isDescending, limit } = asObject(kept.read()) ?? {};
  return {
    sorting: typeof by === 'string' ? sortingBy(columns, by, isDescending !== false) : undefined,
    limit: typeof limit === 'number' ? limit : undefined,
    write: (sorting, most) =>
      kept.write({
        by: sorting && columns[sorting.column]?.title,
        isDescending: sorting?.isDescending,
        limit: most,
      }),
  };
}

/** The sorting by the column of that title; null if there is none. */
export function sortingBy(
  columns: readonly { title: string }[],
  wanted: string | undefined,
  isDescending = true,
): Sorting {
  const column = columns.findIndex(({ title }) => title === wanted);
  return column === -1 ? null : { column, isDescending };
}

/** Says at the headings which of them the table is sorted by. */
export function markSorting(head: HTMLElement, sorting: Sorting): void {
  [...head.children].forEach((heading, index) => {
    if (sorting?.column !== index) heading.removeAttribute('aria-sort');
    else heading.setAttribute('aria-sort', sorting.isDescending ? 'descending' : 'ascending');
  });
}

/** The rows in their order; without a sorting in the given one. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sorting: Sorting,
): Row[] {
  const by = sorting === null ? undefined : columns[sorting.column]?.by;
  if (by === undefined || sorting === null) return [...rows];
  const direction = sorting.isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null)
      return Number(one.key === null) - Number(other.key === null);
    return compareKeys(one.key, other.key) * direction;
  });
  return keyed.map(({ row }) => row);
}

/** Numbers by size, text with its numbers by value. */
function compareKeys(one: number | string, other: number | string): number {
  if (typeof one === 'string' && typeof other === 'string') return byName(one, other);
  return one < other ? -1 : Number(one > other);
}
