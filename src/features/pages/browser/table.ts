import type { Cell } from '#text/csv.ts';
import { asObject } from '#json/json.ts';
import { type Child, h, type LiveView, morph, replace, setAttributes } from './element.ts';
import { byName, wholeNumber, counted, longDate, MISSING, tone } from './format.ts';
import { historyValue } from './history.ts';
import { csvButton } from './save.ts';
import { button, noFigure, scroller } from './ui.ts';

/** A column: its heading, what a row shows in it, and what it sorts by. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** Nulls come last in both directions. A column without it does not sort. */
  sortKey?: (row: Row) => number | string | null;
  /** What a row has in a file; if absent, what it sorts by, else the text that it shows. */
  raw?: (row: Row) => Cell;
  /** Numbers are aligned right. */
  isNumber?: boolean;
  /** The class of a row's cell. */
  look?: (row: Row) => string;
  /** What the heading means. */
  meaning?: string | undefined;
  /** Whether its cells draw what other columns say: a file leaves them out. */
  isDrawing?: boolean;
  /** Whether its cell names the row. */
  isName?: boolean;
  /** Whether narrow windows leave it out, because it is empty. */
  isSpare?: boolean;
}

/** What a column has of a row: one of its fields by name, or what a function makes of it. */
type Accessor<Row, Value> =
  | ((row: Row) => Value)
  | { [Name in keyof Row]: Row[Name] extends Value ? Name : never }[keyof Row];

function toAccessor<Row, Value>(reader: Accessor<Row, Value>): (row: Row) => Value {
  return typeof reader === 'function' ? reader : (row) => row[reader] as Value;
}

/** A column that shows text and sorts by it. */
export function textColumn<Row>(
  title: string,
  reader: Accessor<Row, string | null>,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  const by = toAccessor(reader);
  return { title, sortKey: by, cell: by, ...more };
}

/** A column that names the rows. */
export function nameColumn<Row>(
  title: string,
  reader: Accessor<Row, string | null>,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return textColumn(title, reader, { isName: true, ...more });
}

/** A column that shows dates on one line, and words for a missing one. */
export function dateColumn<Row>(
  title: string,
  reader: Accessor<Row, string | null>,
  missing = '',
): Column<Row> {
  const by = toAccessor(reader);
  const cell = (row: Row) => {
    const date = by(row);
    return date === null ? missing : longDate(date);
  };
  return { title, sortKey: by, raw: (row) => by(row) ?? missing, cell, look: () => 'date' };
}

interface NumberOptions<Row> {
  /** Whether gains and losses have colours. */
  isToned?: boolean;
  meaning?: string | undefined;
  /** Why a row has no number. */
  reason?: (row: Row) => string | undefined;
}

/** A column that shows numbers and sorts by them. */
export function numberColumn<Row>(
  title: string,
  reader: Accessor<Row, number | null>,
  format: (value: number | null, row: Row) => string,
  { isToned = false, meaning, reason }: NumberOptions<Row> = {},
): Column<Row> {
  const by = toAccessor(reader);
  const cell = (row: Row) => {
    const text = format(by(row), row);
    return text === MISSING ? noFigure(reason?.(row)) : text;
  };
  const look = (row: Row) => (isToned ? tone(format(by(row), row)) : '');
  return { title, sortKey: by, meaning, isNumber: true, cell, look };
}

/**
 * How many rows are shown at first where a table does not say: a job may have thousands of models.
 */
const ROWS_AT_FIRST = 200;
/**
 * How many rows the reader gets for asking: a page with tens of thousands of cells would no longer
 * react.
 */
const MORE_ROWS = 500;

interface TableOptions<Row> {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** What is said in place of a table without rows. */
  empty?: string;
  /** The title of the column that it is sorted by at first, highest first. */
  sortedBy?: string;
  /** Whether the rows keep the given order. */
  isFixed?: boolean;
  /** How many rows are shown before the reader asks for more; by default 200. */
  limit?: number;
  footer?: readonly Row[];
}

/** Longer headings may be cut off, and show the rest on hover. */
const MAX_HEADING = 20;

/** A table that sorts by its headings. */
export function table<Row>(options: TableOptions<Row>): HTMLElement {
  if (options.empty !== undefined && options.rows.length === 0) return h('p.quiet', options.empty);
  return liveTable({ ...options, key: (row) => row }).element;
}

interface LiveOptions<Row> extends TableOptions<Row> {
  /**
   * What a row is about, the same in every update: a row that is shown again stays in its place.
   */
  key: (row: Row) => unknown;
}

/**
 * A table whose rows change while it is on the screen. Later ones are sorted as the reader chose;
 * what has not changed stays, and what is selected in it.
 */
export function liveTable<Row>(options: LiveOptions<Row>): LiveView<readonly Row[]> {
  const { caption, columns, isFixed = false, footer = [] } = options;
  let { rows } = options;
  const kept = historyValue(`table ${caption}`);
  const saved: { sorting?: Sorting; limit?: number } = asObject(kept.read()) ?? {};
  const first = columns.findIndex(({ title }) => title === options.sortedBy);
  let { sorting = first === -1 ? null : { column: first, isDescending: true } } = saved;
  let { limit = options.limit ?? ROWS_AT_FIRST } = saved;
  const body = h('tbody');
  const makeCells = (row: Row) => columns.map((column) => bodyCell(column, row));
  const makeRows = keyedRows(options.key, makeCells);
  const draw = () => {
    markSorting(head, sorting);
    morph(body, ...makeRows(sortRows(rows, columns, sorting).slice(0, limit)));
    const next = Math.min(MORE_ROWS, rows.length - limit);
    replace(more, `Show ${wholeNumber(next)} more of ${wholeNumber(rows.length)}`);
    more.hidden = rows.length <= limit;
    replace(shown, `${wholeNumber(limit)} of ${counted(rows.length, 'row')}`);
    shown.hidden = more.hidden;
  };
  const sortBy = (column: number) => {
    const isDescending =
      sorting?.column === column ? !sorting.isDescending : columns[column]?.isNumber === true;
    sorting = { column, isDescending };
    redraw();
  };
  const redraw = () => {
    kept.write({ sorting, limit });
    draw();
  };
  const showMore = () => {
    limit += MORE_ROWS;
    redraw();
  };
  const more = button(null, showMore, { class: 'ghost' });
  const shown = h('p.on-paper'); // paper has no buttons
  const head = h(
    'tr',
    ...columns.map((column, index) => headerCell(column, isFixed ? null : () => sortBy(index))),
  );
  draw();
  const foot = footer.length > 0 && h('tfoot', ...footer.map((row) => h('tr', ...makeCells(row))));
  const fileColumns = columns.filter(({ isDrawing }) => !isDrawing);
  const sheet = () => ({
    columns: fileColumns.map(({ title }) => title),
    rows: sortRows(rows, columns, sorting).map((row) =>
      fileColumns.map((column) => fileCell(column, row)),
    ),
  });
  const parts = h('table', h('caption.unseen', caption), h('thead', head), body, foot);
  const exports = h('div.exports', more, csvButton(caption, sheet));
  return {
    element: h('div', scroller(caption, parts), shown, exports),
    update(later) {
      rows = later;
      draw();
    },
  };
}

/**
 * Makes the elements of rows: the one of the same key before, with other cells where they have
 * changed, or a new one.
 */
function keyedRows<Row>(
  keyOf: (row: Row) => unknown,
  makeCells: (row: Row) => HTMLElement[],
): (rows: readonly Row[]) => HTMLElement[] {
  let made = new Map<unknown, { row: Row; element: HTMLElement }>();
  return (rows) => {
    const before = made;
    made = new Map();
    return rows.map((row) => {
      const key = keyOf(row);
      const old = made.has(key) ? undefined : before.get(key);
      const element = old?.element ?? h('tr', ...makeCells(row));
      if (old !== undefined && old.row !== row) morph(element, ...makeCells(row));
      made.set(key, { row, element });
      return element;
    });
  };
}

function headerCell<Row>(
  { title, sortKey, isNumber, isSpare, meaning }: Column<Row>,
  sort: (() => void) | null,
): HTMLElement {
  const content =
    sortKey === undefined || sort === null ? title : button(title, sort, { class: 'sort' });
  const attributes = {
    scope: 'col',
    class: classNames(isNumber && 'number', isSpare && 'wide-only'),
  };
  return h(
    'th',
    { ...attributes, title: meaning ?? (title.length > MAX_HEADING && title) },
    content,
  );
}

function bodyCell<Row>(
  { cell, isNumber, isSpare, look, isName }: Column<Row>,
  row: Row,
): HTMLElement {
  const attributes = {
    class: classNames(isNumber && 'number', isSpare && 'wide-only', look?.(row)),
  };
  const shown = cell(row);
  if (!isName) return h('td', attributes, shown);
  const name = shown instanceof Node ? shown : h('span.name', shown);
  return h('th', { ...attributes, scope: 'row', title: name.textContent }, name);
}

function classNames(...words: (string | false | undefined)[]): string | null {
  return words.filter(Boolean).join(' ') || null;
}

/** A row's cell for a file. */
function fileCell<Row>({ raw, sortKey, cell }: Column<Row>, row: Row): Cell {
  if (raw !== undefined) return raw(row);
  if (sortKey !== undefined) return sortKey(row);
  const shown = cell(row);
  return shown instanceof Node ? shown.textContent : shown || null;
}

/** The column that a table is sorted by, as its place; null for the given order. */
type Sorting = { column: number; isDescending: boolean } | null;

/** Says at the headings which of them the table is sorted by. */
function markSorting(head: HTMLElement, sorting: Sorting): void {
  const direction = sorting?.isDescending ? 'descending' : 'ascending';
  for (const [index, heading] of [...head.children].entries())
    setAttributes(heading, { 'aria-sort': sorting?.column === index && direction });
}

/** The rows in their order; without a sorting in the given one. */
function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting,
): Row[] {
  const by = columns[sorting?.column ?? -1]?.sortKey;
  if (by === undefined) return [...rows];
  const direction = sorting?.isDescending ? -1 : 1;
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
