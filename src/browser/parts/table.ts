import { type Child, h, on, replace, replaceKeepingFocus } from './element.ts';
import { count } from './format.ts';

/** A column: its heading, what a row shows there, and by what it sorts. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** Nulls come last whichever way. Without it the column does not sort. */
  by?: (row: Row) => number | string | null;
  /** Figures stand to the right. */
  isFigure?: boolean;
  /** The class of a row's cell. */
  tone?: (row: Row) => string;
  /** What the heading means. */
  meaning?: string | undefined;
  /** The cell that names its row. */
  isName?: boolean;
}

interface TableOptions<Row> {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** The title of the column that it is sorted by at first, highest first. */
  sortedBy?: string;
  /** How many rows are shown before one asks for all. */
  most?: number;
}

type Order = { column: number; isDescending: boolean } | null;

/** A table that sorts by its headings. */
export function table<Row>(options: TableOptions<Row>): HTMLElement {
  return liveTable(options).element;
}

export interface LiveTable<Row> {
  element: HTMLElement;
  /** Shows other rows; the order stays as the reader chose it. */
  update(rows: readonly Row[]): void;
}

/** A table whose rows change while one looks at it. */
export function liveTable<Row>({
  caption,
  columns,
  sortedBy,
  most = Infinity,
  ...given
}: TableOptions<Row>): LiveTable<Row> {
  let { rows } = given;
  const start = columns.findIndex(({ title }) => title === sortedBy);
  let order: Order = start === -1 ? null : { column: start, isDescending: true };
  let limit = most;
  const body = h('tbody');
  const head = h('tr');
  const more = h('button', { type: 'button', class: 'ghost' });
  const draw = () => {
    const shown = sorted(rows, columns, order).slice(0, limit);
    replaceKeepingFocus(body, ...shown.map((row) => h('tr', {}, ...columns.map((column) => cellOf(column, row)))));
    replace(more, `Show all ${count(rows.length)}`);
    more.hidden = rows.length <= limit;
  };
  const sortBy = (column: number) => {
    order = {
      column,
      isDescending: order?.column === column ? !order.isDescending : columns[column]?.isFigure === true,
    };
    markOrder(head, order);
    draw();
  };
  replace(head, ...columns.map((column, index) => headingOf(column, () => sortBy(index))));
  markOrder(head, order);
  draw();
  on(more, 'click', () => {
    limit = Infinity;
    draw();
  });
  const element = h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', { class: 'unseen' }, caption), h('thead', {}, head), body),
    more,
  );
  const update = (later: readonly Row[]) => {
    rows = later;
    draw();
  };
  return { element, update };
}

function headingOf<Row>({ title, by, isFigure, meaning }: Column<Row>, sort: () => void): HTMLElement {
  const attributes = { scope: 'col', class: isFigure ? 'figure' : null, title: meaning };
  if (by === undefined) return h('th', attributes, title);
  return h('th', attributes, on(h('button', { type: 'button', class: 'sort' }, title), 'click', sort));
}

function cellOf<Row>({ cell, isFigure, tone, isName }: Column<Row>, row: Row): HTMLElement {
  const attributes = { class: [isFigure ? 'figure' : '', tone?.(row) ?? ''].join(' ').trim() || null };
  return isName ? h('th', { ...attributes, scope: 'row' }, cell(row)) : h('td', attributes, cell(row));
}

function markOrder(head: HTMLElement, order: Order): void {
  [...head.children].forEach((heading, index) => {
    if (order?.column !== index) heading.removeAttribute('aria-sort');
    else heading.setAttribute('aria-sort', order.isDescending ? 'descending' : 'ascending');
  });
}

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order): Row[] {
  const by = order === null ? undefined : columns[order.column]?.by;
  if (by === undefined || order === null) return [...rows];
  const way = order.isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    return (one.key < other.key ? -1 : one.key > other.key ? 1 : 0) * way;
  });
  return keyed.map(({ row }) => row);
}
