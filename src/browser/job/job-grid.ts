import { h, on, replace, setAttributes } from '../parts/element.ts';
import { longDate, monthOf } from '../parts/format.ts';
import { modelDayPath } from '../../page-paths.ts';
import type { Detail, Status } from '../service/responses.ts';

/** Dates side by side; of a longer job the reader turns the page. */
const DATES_PER_PAGE = 60;

/** Every status has a sign of its own, so that nothing rests on colour alone. */
const signs: Record<Detail['status'], string> = {
  completed: '✓',
  running: '●',
  failed: '✕',
  skipped: '–',
  pending: '·',
};

/** The model-days of a job as a grid: a row per model, a column per date. */
export interface JobGrid {
  element: HTMLElement;
  /** Shows a later state of the same job; touches only what has changed. */
  update(status: Status): void;
}

export function jobGrid(first: Status): JobGrid {
  let latest = first;
  let page = pageOfProgress(first);
  let cells = new Map<string, HTMLElement>();
  const body = h('div', { class: 'scroll' });
  const pages = Math.ceil(first.date_range.length / DATES_PER_PAGE);
  const update = (status: Status) => {
    latest = status;
    for (const detail of status.details) showCell(cells.get(keyOf(detail)), detail);
  };
  const turn = (to: number) => {
    page = Math.max(0, Math.min(pages - 1, to));
    const dates = latest.date_range.slice(page * DATES_PER_PAGE, (page + 1) * DATES_PER_PAGE);
    cells = new Map();
    replace(body, gridTable(latest.models, dates, cells));
    update(latest);
    enableArrows(body);
  };
  turn(page);
  const pager = pages > 1 && pagerOf(() => page, { pages, turn });
  return { element: h('div', { class: 'job-grid' }, pager, body, key()), update };
}

/** The page on which things happen: that of the first date that has not ended. */
function pageOfProgress({ date_range, details }: Status): number {
  const unfinished = details.find(({ status }) => status === 'pending' || status === 'running')?.date;
  const index = unfinished === undefined ? date_range.length - 1 : date_range.indexOf(unfinished);
  return Math.floor(Math.max(0, index) / DATES_PER_PAGE);
}

function gridTable(models: readonly string[], dates: readonly string[], cells: Map<string, HTMLElement>): HTMLElement {
  const months = Map.groupBy(dates, monthOf);
  const rows = models.map((model) => {
    const row = dates.map((date) => {
      const cell = h('td', {}, h('span', {}, signs.pending));
      cells.set(keyOf({ date, model }), cell);
      return cell;
    });
    return h('tr', {}, h('th', { scope: 'row' }, model), ...row);
  });
  return h(
    'table',
    { class: 'grid', role: 'grid', 'aria-label': 'Model-days: models by dates' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('td'),
        ...[...months].map(([month, own]) =>
          h('th', { colspan: own.length, scope: 'colgroup' }, own.length > 2 ? month : month.slice(0, 3)),
        ),
      ),
      h('tr', {}, h('td'), ...dates.map((date) => h('th', { scope: 'col', title: longDate(date) }, date.slice(8)))),
    ),
    h('tbody', {}, ...rows),
  );
}

function keyOf({ date, model }: { date: string; model: string }): string {
  return `${date} ${model}`;
}

function showCell(cell: HTMLElement | undefined, { date, model, status, error }: Detail): void {
  if (cell === undefined || cell.className === status) return;
  const words = `${longDate(date)}, ${model}: ${status}${error === null ? '' : `, ${error}`}`;
  const hasSession = status === 'completed' || status === 'failed' || status === 'running';
  const inside = hasSession
    ? h('a', { href: modelDayPath(model, date), tabindex: -1 }, signs[status])
    : h('span', {}, signs[status]);
  setAttributes(inside, { 'aria-label': words });
  setAttributes(cell, { class: status, title: words });
  const hadFocus = cell.contains(document.activeElement);
  replace(cell, inside);
  if (hadFocus) (hasSession ? inside : cell).focus();
}

/** One stop for the tab key; inside, the arrow keys walk. */
function enableArrows(body: HTMLElement): void {
  const rows = [...body.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('td')]);
  if (rows[0]?.[0] === undefined) return;
  let [row, column] = [0, 0];
  const cellAt = () => rows[row]?.[column];
  setAttributes(rows[0][0], { tabindex: 0 });
  const grid = body.querySelector('table') as HTMLTableElement;
  on(grid, 'keydown', (event) => {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (event.key === 'Enter') cellAt()?.querySelector('a')?.click();
    if (move === undefined) return;
    event.preventDefault();
    setAttributes(cellAt() as HTMLElement, { tabindex: null });
    row = Math.max(0, Math.min(rows.length - 1, row + move[0]));
    column = Math.max(0, Math.min((rows[row]?.length ?? 1) - 1, column + move[1]));
    setAttributes(cellAt() as HTMLElement, { tabindex: 0 });
    cellAt()?.focus();
  });
}

function pagerOf(current: () => number, { pages, turn }: { pages: number; turn: (to: number) => void }): HTMLElement {
  const words = h('span', { role: 'status' });
  const say = () => replace(words, `Dates, page ${current() + 1} of ${pages}`);
  const button = (label: string, by: number) =>
    on(h('button', { type: 'button' }, label), 'click', () => {
      turn(current() + by);
      say();
    });
  say();
  return h('div', { class: 'tools' }, button('Earlier', -1), words, button('Later', 1));
}

function key(): HTMLElement {
  const entries = Object.entries(signs).map(([status, sign]) =>
    h('li', {}, h('span', { class: `sign ${status}`, 'aria-hidden': 'true' }, sign), status),
  );
  return h('ul', { class: 'key', 'aria-label': 'Signs' }, ...entries);
}
