import { button, field } from '../parts/blocks.ts';
import { h, newId, on, replace } from '../parts/element.ts';
import { goTo } from '../parts/page.ts';
import type { Jobs } from '../service/responses.ts';
import { onCompleteDate } from './date-input.ts';
import { type FilterName, type Filters, NO_FILTERS, filterNames, hasFilters, queryWith } from './filters.ts';
import { modelChoice } from './model-choice.ts';

/** What the bar can offer besides what the address already names. */
export interface Offers {
  /** Names of models that have results. */
  models?: readonly string[];
  jobs?: Jobs['jobs'];
  /** Symbols. */
  benchmarks?: readonly string[];
}

interface FilterBar {
  element: HTMLElement;
  /** Adds choices to the lists, once they are known. */
  offer(offers: Offers): void;
}

/** The benchmark that every universe has. */
const UNIVERSE = 'universe';

const DAYS = [
  ['', 'All days'],
  ['clean', 'After the knowledge cutoff'],
] as const;

/** The control that the reader used last: the page that a change opens gives the focus to the same one. */
let lastUsed: string | null = null;

/**
 * One bar for dates, job, models, benchmark and days. Each change becomes the page's address, so that Back undoes it; the
 * page of that address reads it with `filtersIn`. Filters that do not apply to a page are hidden by name.
 */
export function filterBar(filters: Filters, { hides = [] }: { hides?: readonly FilterName[] } = {}): FilterBar {
  const shows = filterNames.filter((name) => !hides.includes(name));
  const change = (changed: Partial<Filters>, used: string) => {
    lastUsed = used;
    goTo(location.pathname + queryWith(location.search, { ...filters, ...changed }));
  };
  const first = dateInput('start_date', filters, change);
  const last = dateInput('end_date', filters, change);
  const models = modelChoice(filters.models, (chosen) => change({ models: chosen }, 'models'));
  const job = select('job_id', filters, change);
  const days = select('days', filters, change);
  const symbols = h('datalist', { id: newId() });
  const benchmark = benchmarkInput(filters, symbols.id, change);
  const clear = button('Clear filters', () => change(NO_FILTERS, 'clear'), { name: 'clear', class: 'ghost' });
  clear.disabled = !hasFilters(filters, shows);
  const offerJobs = (jobs: Jobs['jobs']) => fillOptions(job, filters.job_id, [['', 'All jobs'], ...jobs.map(jobOption)]);
  const offerBenchmarks = (names: readonly string[]) =>
    replace(symbols, ...new Set([UNIVERSE, ...names]).values().map((value) => h('option', { value })));
  offerJobs([]);
  fillOptions(days, filters.days === 'all' ? '' : filters.days, DAYS);
  offerBenchmarks([]);
  const controls: [FilterName, HTMLElement][] = [
    ['start_date', field('From', first)],
    ['end_date', field('To', last)],
    ['job_id', field('Job', job)],
    ['models', h('div.field', h('span', 'Models'), models.element)],
    ['benchmark', h('div.field', field('Benchmark', benchmark), symbols)],
    ['days', field('Days', days)],
  ];
  const shown = controls.filter(([name]) => shows.includes(name)).map(([, control]) => control);
  const element = on(h('form.filters', { 'aria-label': 'Filters' }, ...shown, clear), 'submit', (event) => event.preventDefault());
  returnFocus(element);
  return {
    element,
    offer(offers) {
      if (offers.models !== undefined) models.offer(offers.models);
      if (offers.jobs !== undefined) offerJobs(offers.jobs);
      if (offers.benchmarks !== undefined) offerBenchmarks(offers.benchmarks);
    },
  };
}

type Change = (changed: Partial<Filters>, used: string) => void;

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
  const more = { list, autocomplete: 'off', spellcheck: 'false', placeholder: 'as usual' };
  const input = h('input', { name: 'benchmark', ...more });
  input.value = filters.benchmark;
  on(input, 'keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault(); // the change replaces the form, which then cannot be submitted
    input.blur();
  });
  return on(input, 'change', () => change({ benchmark: input.value.trim() }, 'benchmark'));
}

/** The options of a list with the chosen one; a value from the address that is not among them is added as it is. */
function fillOptions(element: HTMLSelectElement, chosen: string, options: readonly (readonly [string, string])[]): void {
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen.slice(0, 8)] as const];
  replace(element, ...all.map(([value, label]) => h('option', { value, selected: value === chosen }, label)));
}

function jobOption({ job_id: id, start_date, end_date, status }: Jobs['jobs'][number]): [value: string, label: string] {
  return [id, `${start_date} to ${end_date}, ${status.replace('_', ' ')}, ${id.slice(0, 8)}`];
}

/** Gives the focus to the control that was used last, after the page has given it to its heading. */
function returnFocus(bar: HTMLFormElement): void {
  const name = lastUsed;
  lastUsed = null;
  if (name === null) return;
  const wanted = `[name="${name === 'clear' ? 'start_date' : name}"]`;
  queueMicrotask(() => bar.querySelector<HTMLElement>(wanted)?.focus({ preventScroll: true }));
}
