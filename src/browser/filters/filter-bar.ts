import { button, field } from '../parts/blocks.ts';
import { fillOptions } from '../parts/choices.ts';
import { h, newId, on, replace } from '../parts/element.ts';
import { shortId } from '../parts/format.ts';
import { goTo } from '../parts/page.ts';
import { jobStatusWords } from '../service/job-status.ts';
import type { Jobs } from '../service/responses.ts';
import { onCompleteDate } from './date-input.ts';
import {
  type FilterName,
  type Filters,
  NO_FILTERS,
  filterNames,
  hasFilters,
  queryWith,
} from './filters.ts';
import { lastUsed } from './last-used.ts';
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

/** How many jobs a page offers: the newest. */
export const OFFERED_JOBS = 50;

/** The benchmark that every universe has. */
const UNIVERSE = 'universe';

const DAYS = [
  ['', 'All days'],
  ['clean', 'After the knowledge cutoff'],
] as const;

const used = lastUsed();

/**
 * One bar for dates, job, models, benchmark and days. Each change becomes the page's address, so
 * that Back undoes it; the page of that address reads it with `filtersIn`. Filters that do not
 * apply to a page are hidden by name.
 */
export function filterBar(
  filters: Filters,
  { hides = [] }: { hides?: readonly FilterName[] } = {},
): FilterBar {
  const shows = filterNames.filter((name) => !hides.includes(name));
  const change: Change = (changed, name) => {
    used.set(name);
    goTo(location.pathname + queryWith(location.search, { ...filters, ...changed }));
  };
  const first = dateInput('start_date', filters, change);
  const last = dateInput('end_date', filters, change);
  const models = modelChoice(filters.models, (chosen) => change({ models: chosen }, 'models'));
  const job = select('job_id', filters, change);
  const days = select('days', filters, change);
  const symbols = h('datalist', { id: newId() });
  const benchmark = benchmarkInput(filters, symbols.id, change);
  const clear = button('Clear filters', () => change(NO_FILTERS, 'start_date'), { class: 'ghost' });
  clear.disabled = !hasFilters(filters, shows);
  const offerJobs = (jobs: Jobs['jobs']) =>
    fillOptions(job, [['', 'All jobs'], ...jobs.map(jobOption)], filters.job_id, shortId);
  const offerBenchmarks = (names: readonly string[]) =>
    replace(symbols, ...[...new Set([UNIVERSE, ...names])].map((value) => h('option', { value })));
  offerJobs([]);
  fillOptions(days, DAYS, filters.days === 'all' ? '' : filters.days);
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
  const element = on(
    h('form.filters', { 'aria-label': 'Filters' }, ...shown, clear),
    'submit',
    (event) => event.preventDefault(),
  );
  used.focusIn(element);
  return {
    element,
    offer(offers) {
      if (offers.models !== undefined) models.offer(offers.models);
      if (offers.jobs !== undefined) offerJobs(offers.jobs);
      if (offers.benchmarks !== undefined) offerBenchmarks(offers.benchmarks);
    },
  };
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
}: Jobs['jobs'][number]): [value: string, label: string] {
  return [
    id,
    `${start_date} to ${end_date}, ${jobStatusWords[status].toLowerCase()}, ${shortId(id)}`,
  ];
}
