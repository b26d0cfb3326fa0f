import { modelDayPath } from '../../paths.ts';
import { h, type LiveView, replace, setAttributes } from '../element.ts';
import { longDate, monthText } from '../format.ts';
import type { Detail, Status } from '../../responses.ts';
import { csvButton, type Sheet } from '../save.ts';
import { button, enableArrowKeys } from '../ui.ts';

/**
 * Larger jobs are shown page by page: a browser needs seconds for the cells of a thousand models.
 */
const DATES_PER_PAGE = 60;
const MODELS_PER_PAGE = 100;

/** Every status has its own sign, so that colour is never the only difference. */
const signs: Record<Detail['status'], string> = {
  completed: '✓',
  running: '●',
  failed: '✕',
  skipped: '–',
  pending: '·',
};

/**
 * The model-days of a job as a grid, a row per run below its entry, a column per date: opened at
 * the dates and the models that are running or come next. A later status updates only the cells
 * that have changed.
 */
export function jobGrid(first: Status): LiveView<Status> {
  let latest = first;
  let cells = new Map<string, HTMLElement>();
  const body = h('div.scroll');
  const update = (status: Status) => {
    latest = status;
    for (const detail of status.details) showCell(cells.get(cellKey(detail)), detail);
  };
  const show = () => {
    cells = new Map();
    replace(body, gridTable(first, { models: models.shown(), dates: dates.shown() }, cells));
    update(latest);
    requestAnimationFrame(() => {
      const first = body.querySelector<HTMLElement>('.running') ?? body.querySelector('.failed');
      body.scrollLeft = (first?.offsetLeft ?? 0) - body.clientWidth / 2;
    });
  };
  const opened = initialCell(first);
  const dates = pager(first.date_range, {
    most: DATES_PER_PAGE,
    opened: opened.date,
    words: { items: 'Dates', back: 'Earlier', on: 'Later' },
    show,
  });
  // The runs of an entry are one below the other.
  const runs = first.entries.flatMap((entry) => entry.runs);
  const models = pager(runs, {
    most: MODELS_PER_PAGE,
    opened: opened.model,
    words: { items: 'Models', back: 'Previous models', on: 'Next models' },
    show,
  });
  show();
  const file = csvButton(`Model-days of ${first.job_id}`, () => gridSheet(latest));
  const exports = h('div.exports', legend(), file);
  return { element: h('div.job-grid', dates.tools, models.tools, body, exports), update };
}

/**
 * Pages of so many items, at first the one with the item `opened`; `show` is called when the reader
 * turns to another.
 */
function pager(
  items: readonly string[],
  {
    most,
    opened,
    words,
    show,
  }: {
    most: number;
    opened: string | undefined;
    words: Record<'items' | 'back' | 'on', string>;
    show: () => void;
  },
) {
  const pages = Math.ceil(items.length / most);
  let page = opened === undefined ? 0 : Math.floor(Math.max(0, items.indexOf(opened)) / most);
  const place = h('span', { role: 'status' });
  const tell = () => replace(place, `${words.items}, page ${page + 1} of ${pages}`);
  const turn = (to: number) => {
    page = Math.max(0, Math.min(pages - 1, to));
    tell();
    show();
  };
  const back = button(words.back, () => turn(page - 1));
  const on = button(words.on, () => turn(page + 1));
  tell();
  return {
    tools: pages > 1 && h('div.tools', back, place, on),
    /** What is on the page that the reader chose. */
    shown: () => items.slice(page * most, (page + 1) * most),
  };
}

function gridSheet({ details }: Status): Sheet {
  const rows = details.map(({ model, date, status, error }) => [model, date, status, error]);
  return { columns: ['Model', 'Date', 'Status', 'Error'], rows };
}

function gridTable(
  { entries }: Status,
  { models, dates }: Record<'models' | 'dates', readonly string[]>,
  cells: Map<string, HTMLElement>,
): HTMLElement {
  const rows = models.map((model) =>
    dates.map((date) => {
      const cell = h('td', h('span', signs.pending));
      cells.set(cellKey({ date, model }), cell);
      return cell;
    }),
  );
  const runRow = (model: string) =>
    h('tr', h('th', { scope: 'row' }, model), ...(rows[models.indexOf(model)] ?? []));
  const bodies = entries.flatMap(({ family, runs }) => {
    const shown = runs.filter((run) => models.includes(run)).map(runRow);
    const title = h('th', { scope: 'rowgroup', colspan: dates.length + 1 }, family);
    return shown.length === 0
      ? []
      : [h('tbody', runs.length > 1 && h('tr.entry', title), ...shown)];
  });
  const months = [...Map.groupBy(dates, monthText)].map(([month, own]) =>
    h(
      'th',
      { colspan: own.length, scope: 'colgroup', title: month },
      own.length > 2 ? month : own.length > 1 ? month.slice(0, 3) : h('span.unseen', month),
    ),
  );
  const days = dates.map((date) => h('th', { scope: 'col', title: longDate(date) }, date.slice(8)));
  const grid = h(
    'table.grid',
    { role: 'grid', 'aria-label': 'Model-days by model and date' },
    h('thead', h('tr', h('td'), ...months), h('tr', h('td'), ...days)),
    ...bodies,
  );
  enableArrowKeys(grid, { rows, open: (cell) => cell.querySelector('a')?.click() });
  return grid;
}

function cellKey({ date, model }: { date: string; model: string }): string {
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

/**
 * Where the grid of a job opens: at the first model-day that has not ended, otherwise at the last
 * date. A large job that was just created has no model-days yet, so its grid opens at the first
 * date.
 */
export function initialCell({ date_range, details }: Pick<Status, 'date_range' | 'details'>): {
  date?: string | undefined;
  model?: string;
} {
  if (details.length === 0) return {};
  return (
    details.find(({ status }) => status === 'pending' || status === 'running') ?? {
      date: date_range.at(-1),
    }
  );
}
