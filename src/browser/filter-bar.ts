import { repeatIn } from '../basics/runs.ts';
import { here, isPublished } from './address.ts';
import { type Child, h, type Live, newId, on, replace } from './element.ts';
import {
  type FilterName,
  type Filters,
  NO_FILTERS,
  filterNames,
  hasFilters,
  queryWith,
} from './filters.ts';
import { byName, count, counted, jobStatusWords, longDate, shortId, shortList } from './format.ts';
import type { Job } from './responses.ts';
import { goTo } from './router.ts';
import { button, field, fillOptions, modelBox } from './ui.ts';

/** What the bar can offer besides what the address already names. */
interface Offers {
  /** Names of models that have results. */
  models?: readonly string[];
  jobs?: readonly Job[];
}

interface FilterBar {
  element: HTMLDetailsElement;
  /** Adds choices to the lists, once they are known. */
  offer(offers: Offers): void;
}

/** How many jobs a page offers: the newest. */
export const OFFERED_JOBS = 50;

const DAYS = [
  ['', 'All days'],
  ['clean', 'After the knowledge cutoff'],
] as const;

interface BarOptions {
  /** Filters that do not apply to the page. */
  hides?: readonly FilterName[];
  /** What is chosen. */
  words?: string;
  /** The page's own controls. */
  more?: Child;
}

/**
 * One bar for dates, job, models, benchmark and days, behind a line that says what is chosen. Each
 * change becomes the page's address, so that Back undoes it; the page of that address reads it with
 * `filtersIn`.
 */
export function filterBar(
  filters: Filters,
  { hides = [], words = filtersInWords(filters), more = null }: BarOptions = {},
): FilterBar {
  const shows = filterNames.filter((name) => !hides.includes(name));
  const change: Change = (changed, name) => {
    const { pathname, search } = here();
    goTo(pathname + queryWith(search, { ...filters, ...changed }), name);
  };
  const first = dateInput('start_date', filters, change);
  const last = dateInput('end_date', filters, change);
  const models = modelChoice(filters.models, (chosen) => change({ models: chosen }, 'models'));
  const job = select('job_id', filters, change);
  const days = select('days', filters, change);
  // The benchmark that every universe has.
  const symbols = h('datalist', { id: newId() }, h('option', { value: 'universe' }));
  const benchmark = benchmarkInput(filters, symbols.id, change);
  const clear = button('Clear filters', () => change(NO_FILTERS, 'start_date'), { class: 'ghost' });
  clear.disabled = !hasFilters(filters, shows);
  const offerJobs = (jobs: readonly Job[]) =>
    fillOptions(job, [['', 'All jobs'], ...jobs.map(jobOption)], filters.job_id, shortId);
  offerJobs([]);
  fillOptions(days, DAYS, filters.days === 'all' ? '' : filters.days);
  const controls: [FilterName, HTMLElement][] = [
    ['start_date', field('From', first)],
    ['end_date', field('To', last)],
    ['job_id', field('Job', job)],
    ['models', h('div.field', h('span', 'Models'), models.element)],
    ['benchmark', h('div.field', field('Benchmark', benchmark), symbols)],
    ['days', field('Days', days)],
  ];
  const shown = controls.filter(([name]) => shows.includes(name)).map(([, control]) => control);
  const form = h('form.filters', { 'aria-label': 'Filters' }, ...shown, clear);
  on(form, 'submit', (event) => event.preventDefault());
  const summary = h('summary', words, h('span.way-in', 'Change'));
  return {
    element: h(
      'details.folded',
      { 'data-name': 'choice', hidden: isPublished() },
      summary,
      form,
      more,
    ),
    offer(offers) {
      if (offers.models !== undefined) models.update(offers.models);
      if (offers.jobs !== undefined) offerJobs(offers.jobs);
    },
  };
}

/** `All models, all dates`, `gpt-5, from Mon 15 Sep 2025, job 1a2b3c4d`. */
export function filtersInWords(
  { models, start_date: from, end_date: to, job_id: job, benchmark, days }: Filters,
  all = 'All models',
): string {
  const dates = [from && `from ${longDate(from)}`, to && `to ${longDate(to)}`].filter(Boolean);
  const words = [
    models.length === 0 ? all : shortList(models),
    dates.join(' ') || 'all dates',
    job && `job ${shortId(job)}`,
    benchmark && `benchmark ${benchmark}`,
    days === 'clean' && 'after the knowledge cutoff',
  ];
  return words.filter(Boolean).join(', ');
}

/** Makes the changed filters the page's address; the control of that name gets the focus again. */
type Change = (changed: Partial<Filters>, name: string) => void;

function dateInput(name: 'start_date' | 'end_date', filters: Filters, change: Change): HTMLElement {
  const input = h('input', { type: 'date', name });
  input.value = filters[name];
  onCompleteDate(input, () => change({ [name]: input.value }, name));
  return input;
}

function select(name: 'job_id' | 'days', filters: Filters, change: Change): HTMLSelectElement {
  const element = h('select', { name });
  return on(element, 'change', () => {
    if (element.value !== filters[name]) change({ [name]: element.value }, name);
  });
}

function benchmarkInput(filters: Filters, list: string, change: Change): HTMLElement {
  const more = { list, autocomplete: 'off', spellcheck: 'false', placeholder: 'Default' };
  const input = h('input', { name: 'benchmark', ...more });
  input.value = filters.benchmark;
  on(input, 'keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault(); // the change replaces the form, which then cannot be submitted
    input.blur();
  });
  return on(input, 'change', () => change({ benchmark: input.value.trim() }, 'benchmark'));
}

function jobOption({
  job_id: id,
  start_date,
  end_date,
  status,
}: Job): [value: string, label: string] {
  return [
    id,
    `${start_date} to ${end_date}, ${jobStatusWords[status].toLowerCase()}, ${shortId(id)}`,
  ];
}

/**
 * A list of models that unfolds; closing it applies what is ticked, and Escape closes it without.
 * Later names are offered besides those chosen.
 */
function modelChoice(
  chosen: readonly string[],
  apply: (models: string[]) => void,
): Live<readonly string[]> {
  const boxes = h('div.choices');
  const summary = h('summary', { name: 'models' }, summaryOf(chosen));
  const update = (names: readonly string[]) => {
    const ticked = new Set(boxes.childElementCount === 0 ? chosen : tickedIn(boxes));
    const all = [...new Set([...names, ...chosen])].sort(byName);
    const boxOf = (name: string) => modelBox(name, { isChosen: ticked.has(name) });
    const entries = Map.groupBy(all, (name) => repeatIn(name)?.family ?? name);
    replace(
      boxes,
      ...[...entries].map(([entry, runs]) =>
        runs.length === 1 ? boxOf(runs[0] ?? entry) : runsOf(entry, runs.map(boxOf)),
      ),
    );
  };
  const close = () => (element.open = false);
  const untick = () => boxesIn(boxes).forEach((box) => (box.checked = false));
  const actions = h(
    'div.actions',
    button('Untick all', untick, { class: 'ghost' }),
    button('Show these', close),
  );
  const panel = h(
    'div.panel',
    { tabindex: -1 },
    h('p.quiet', 'Leave all unticked to show every model'),
    boxes,
    actions,
  );
  const element = h('details.choose', summary, panel);
  update([]);
  on(element, 'toggle', () => {
    const ticked = tickedIn(boxes);
    if (!element.open && element.isConnected && !isSame(ticked, chosen)) apply(ticked);
  });
  on(element, 'keydown', (event) => {
    if (event.key !== 'Escape' || !element.open) return;
    boxesIn(boxes).forEach((box) => (box.checked = chosen.includes(box.value)));
    close();
    summary.focus();
  });
  on(element, 'focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) close();
  });
  return { element, update };
}

/** The boxes of an entry's runs, below a button that ticks all of them. */
function runsOf(entry: string, runs: readonly HTMLElement[]): HTMLElement {
  const tick = () => boxesIn(group).forEach((box) => (box.checked = true));
  const all = button(`${entry}, all ${count(runs.length)} runs`, tick, { class: 'ghost' });
  const group = h('div.runs', { role: 'group', 'aria-label': entry }, all, ...runs);
  return group;
}

function boxesIn(place: HTMLElement): HTMLInputElement[] {
  return [...place.querySelectorAll('input')];
}

function tickedIn(place: HTMLElement): string[] {
  return boxesIn(place).flatMap(({ checked, value }) => (checked ? value : []));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

function summaryOf(chosen: readonly string[]): string {
  if (chosen.length === 0) return 'All models';
  return chosen.length === 1 ? (chosen[0] ?? '') : counted(chosen.length, 'model');
}

/**
 * Calls back when a date has been chosen: at once from the calendar, but while it is typed only
 * when the reader leaves the field or presses Enter, because each digit makes another valid date.
 */
function onCompleteDate(input: HTMLInputElement, chosen: () => void): void {
  let before = input.value;
  let isTyped = false;
  const finish = () => {
    if (input.value === before) return;
    before = input.value;
    chosen();
  };
  on(input, 'keydown', (event) => {
    isTyped = true;
    if (event.key !== 'Enter') return;
    event.preventDefault(); // the change replaces the form, which then cannot be submitted
    finish();
  });
  on(input, 'pointerdown', () => (isTyped = false));
  on(input, 'change', () => {
    if (!isTyped) finish();
  });
  on(input, 'blur', finish);
}
