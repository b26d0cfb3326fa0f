import { modelDayPath } from '../../page-paths.ts';
import { enableArrows } from '../parts/arrows.ts';
import { button } from '../parts/blocks.ts';
import { csvButton } from '../parts/download.ts';
import { h, replace, setAttributes } from '../parts/element.ts';
import { longDate, monthOf } from '../parts/format.ts';
import type { Sheet } from '../parts/sheet.ts';
import type { Detail, Status } from '../service/responses.ts';

/** Longer jobs are shown page by page. */
const DATES_PER_PAGE = 60;

/** Every status has its own sign, so that colour is never the only difference. */
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
  /** Shows a later status of the same job; updates only the cells that have changed. */
  update(status: Status): void;
}

/** The grid of a job, opened at the dates that are running or come next. */
export function jobGrid(first: Status): JobGrid {
  let latest = first;
  let page = pageInProgress(first);
  let cells = new Map<string, HTMLElement>();
  const body = h('div.scroll');
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
    replace(place, `Dates, page ${page + 1} of ${pages}`);
  };
  const place = h('span', { role: 'status' });
  const [earlier, later] = [button('Earlier', () => turn(page - 1)), button('Later', () => turn(page + 1))];
  turn(page);
  const file = csvButton(`Model-days of ${first.job_id}`, () => sheetOf(latest));
  const tools = pages > 1 && h('div.tools', earlier, place, later);
  return { element: h('div.job-grid', tools, body, h('div.exports', legend(), file)), update };
}

function sheetOf({ details }: Status): Sheet {
  const rows = details.map(({ model, date, status, error }) => [model, date, status, error]);
  return { columns: ['Model', 'Date', 'Status', 'Error'], rows };
}

/** The page with the first date that has not ended. */
function pageInProgress({ date_range, details }: Status): number {
  const unfinished = details.find(({ status }) => status === 'pending' || status === 'running')?.date;
  const index = unfinished === undefined ? date_range.length - 1 : date_range.indexOf(unfinished);
  return Math.floor(Math.max(0, index) / DATES_PER_PAGE);
}

function gridTable(models: readonly string[], dates: readonly string[], cells: Map<string, HTMLElement>): HTMLElement {
  const rows = models.map((model) =>
    dates.map((date) => {
      const cell = h('td', h('span', signs.pending));
      cells.set(keyOf({ date, model }), cell);
      return cell;
    }),
  );
  const months = [...Map.groupBy(dates, monthOf)].map(([month, own]) =>
    h('th', { colspan: own.length, scope: 'colgroup' }, own.length > 2 ? month : month.slice(0, 3)),
  );
  const days = dates.map((date) => h('th', { scope: 'col', title: longDate(date) }, date.slice(8)));
  const grid = h(
    'table.grid',
    { role: 'grid', 'aria-label': 'Model-days by model and date' },
    h('thead', h('tr', h('td'), ...months), h('tr', h('td'), ...days)),
    h('tbody', ...rows.map((row, index) => h('tr', h('th', { scope: 'row' }, models[index]), ...row))),
  );
  enableArrows(grid, { rows, open: (cell) => cell.querySelector('a')?.click() });
  return grid;
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
    : h('span', signs[status]);
  setAttributes(inside, { 'aria-label': words });
  setAttributes(cell, { class: status, title: words });
  const hadFocus = cell.contains(document.activeElement);
  replace(cell, inside);
  if (hadFocus) (hasSession ? inside : cell).focus();
}

function legend(): HTMLElement {
  const entries = Object.entries(signs).map(([status, sign]) =>
    h('li', h(`span.sign.${status}`, { 'aria-hidden': 'true' }, sign), status),
  );
  return h('ul.key', { 'aria-label': 'Legend' }, ...entries);
}
