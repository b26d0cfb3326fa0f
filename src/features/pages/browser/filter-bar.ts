import { parseRun } from '#domain/runs.ts';
import { pageStudy, pageUrl, isPublished } from './address.ts';
import { get } from './api.ts';
import { h, type LiveView, newId, on, replace } from './element.ts';
import {
  type FilterName,
  type Filters,
  NO_FILTERS,
  filterNames,
  readFilters,
  hasFilters,
  replaceFilters,
} from './filters.ts';
import { byName, wholeNumber, jobStatusLabels, longDate, shortId, shortList } from './format.ts';
import type { Job, KnownModels } from '../responses.ts';
import { goTo } from './router.ts';
import {
  type OptionList,
  button,
  field,
  fillOptions,
  link,
  modelCheckbox,
  namedOptions,
} from './ui.ts';

/** How many jobs the bar offers: the newest. */
const OFFERED_JOBS = 200;

const DAYS: OptionList = [
  ['', 'All days'],
  ['clean', 'After the knowledge cutoff'],
];

interface BarOptions {
  /** Filters that do not apply to the page. */
  hides?: readonly (FilterName | 'study')[];
  /** What is chosen. */
  words?: string;
  /** The page's own controls. */
  fields?: readonly HTMLElement[];
  /** The names that a reader may choose. */
  selectNames?: (models: KnownModels['models']) => readonly string[];
  /** Whether models of other studies may be chosen too. */
  acrossStudies?: boolean;
}

/**
 * One form for study, dates, job, models, benchmark and days, behind a line that says what is chosen. What
 * it offers is requested when it is unfolded.
 */
export function filterBar(
  filters: Filters,
  {
    hides = [],
    words = filtersText(filters),
    fields = [],
    selectNames = completedEntries,
    acrossStudies = false,
  }: BarOptions,
  signal: AbortSignal,
): HTMLDetailsElement {
  // A published folder has no other responses than those of its studies.
  const shown = isPublished() ? [] : filterNames.filter((name) => !hides.includes(name));
  const study = hides.includes('study') ? null : pageStudy();
  const studies = h('select', { name: 'study' });
  fillOptions(studies, studyOptions([study ?? '']), study ?? '');
  const models = modelChoice(filters.models);
  const job = h('select', { name: 'job_id' });
  fillOptions(job, jobOptions([]), filters.job_id, shortId);
  const chosenDays = filters.days === 'all' ? '' : filters.days;
  const date = (name: 'start_date' | 'end_date') =>
    h('input', { type: 'date', name, value: filters[name] });
  const controls: Partial<Record<FilterName, HTMLElement>> = {
    start_date: field('From', date('start_date')),
    end_date: field('To', date('end_date')),
    job_id: field('Job', job),
    models: h('div.field', h('span', 'Models'), models.element),
    benchmark: benchmarkField(filters),
    days: field('Days', fillOptions(h('select', { name: 'days' }), DAYS, chosenDays)),
  };
  const { pathname, search } = pageUrl();
  const clearedUrl = pathname + replaceFilters(search, NO_FILTERS);
  const form = navigateOnSubmit(
    h(
      'form.filters',
      { 'aria-label': 'Filters' },
      study !== null && field('Study', studies),
      ...shown.map((name) => controls[name]),
      ...(isPublished() ? [] : fields),
      h('button', { type: 'submit' }, 'Show'),
      hasFilters(filters, shown) && link(clearedUrl, 'Clear filters'),
    ),
  );
  const bar = h(
    'details.folded',
    { 'data-name': 'choice', hidden: shown.length === 0 && study === null },
    h(
      'summary',
      words,
      // The names of models that are chosen across studies have their own.
      !filters.models.some((name) => name.includes('@')) &&
        study !== null &&
        `, study ${study || NO_NAME}`,
      h('span.way-in', 'Change'),
    ),
    form,
  );
  const offer = async () => {
    const [known, { jobs }] = await Promise.all([
      get('/models', '', signal),
      get('/jobs', { limit: String(OFFERED_JOBS) }, signal),
    ]);
    fillOptions(studies, studyOptions(known.studies), studies.value);
    const others = acrossStudies && study !== null && !isPublished() ? ['', ...known.studies] : [];
    const asked = others.map((own) => get('/models', { study: own }, signal));
    const all = [known, ...(await Promise.all(asked))];
    models.update(selectNames(all.flatMap((own) => own.models)));
    fillOptions(job, jobOptions(jobs), job.value, shortId);
  };
  // Without a response the form offers what the address names.
  return on(bar, 'toggle', () => void (bar.open && offer().catch(() => null)));
}

const NO_NAME = 'without a name';
/** Choices that mean nothing in another study. */
const STUDY_CHOICES = ['models', 'job_id', 'against', 'differ'];

// A published folder names those that it has.
const studyOptions = (names: readonly string[]) =>
  namedOptions(NO_NAME, names).slice(Number(isPublished()));

/**
 * Makes what a form says the page's address once it is submitted, so that Back undoes it;
 * parameters that the form does not have stay.
 */
export function navigateOnSubmit(form: HTMLFormElement): HTMLFormElement {
  return on(form, 'submit', (event) => {
    event.preventDefault();
    const { pathname, search } = pageUrl();
    const [query, chosen] = [new URLSearchParams(search), new FormData(form)];
    for (const { name } of form.elements as Iterable<HTMLInputElement>)
      if (name !== '') query.set(name, chosen.getAll(name).join(','));
    if (query.get('study') !== pageStudy()) for (const name of STUDY_CHOICES) query.delete(name);
    goTo(pathname + replaceFilters(`${query}`, readFilters(`${query}`)));
  });
}

/** `All models, all dates`, `gpt-5, from Mon 15 Sep 2025, job 1a2b3c4d`. */
export function filtersText(
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

function benchmarkField({ benchmark: value }: Filters): HTMLElement {
  // The benchmark that every universe has.
  const symbols = h('datalist', { id: newId() }, h('option', { value: 'universe' }));
  const more = { list: symbols.id, autocomplete: 'off', placeholder: 'Default' };
  const input = h('input', { name: 'benchmark', value, spellcheck: 'false', ...more });
  return h('div.field', field('Benchmark', input), symbols);
}

function jobOptions(jobs: readonly Job[]): OptionList {
  const words = ({ job_id: id, start_date: from, end_date: to, status }: Job) =>
    `${from} to ${to}, ${jobStatusLabels[status].toLowerCase()}, ${shortId(id)}`;
  return [['', 'All jobs'], ...jobs.map((job) => [job.job_id, words(job)] as const)];
}

/** The entries that have completed a model-day. */
function completedEntries(models: KnownModels['models']): string[] {
  return models.flatMap(({ family, completed_model_days: days }) => (days > 0 ? family : []));
}

/** A list of models that unfolds. Later names are offered besides those chosen. */
function modelChoice(chosen: readonly string[]): LiveView<readonly string[]> {
  const boxes = h('div.choices');
  const update = (names: readonly string[]) => {
    const ticked = boxes.childElementCount === 0 ? chosen : tickedNames(boxes);
    const all = [...new Set([...names, ...chosen])].sort(byName);
    const checkbox = (name: string) => modelCheckbox(name, ticked.includes(name));
    const families = Map.groupBy(all, (name) => parseRun(name).family);
    const parts = [...families].flatMap(([family, runs]) => {
      const own = runs.map(checkbox);
      return own.length === 1 ? own : runGroup(family, own);
    });
    replace(boxes, ...parts);
  };
  const id = newId();
  const panel = h(
    'div.panel',
    { id, popover: true },
    h('p.quiet', 'Leave all unticked to show every model'),
    boxes,
    h(
      'div.actions',
      button('Untick all', () => setTicked(boxes, false), { class: 'ghost' }),
      h('button', { type: 'submit', name: 'models' }, 'Show these'),
    ),
  );
  const attributes = { type: 'button', name: 'models', popovertarget: id };
  const opener = h('button.choose', attributes, chosenText(chosen));
  on(panel, 'toggle', () => replace(opener, chosenText(tickedNames(boxes))));
  update([]);
  return { element: h('div', opener, panel), update };
}

/** The boxes of an entry's runs, below a button that ticks all of them. */
function runGroup(entry: string, runs: readonly HTMLElement[]): HTMLElement {
  const words = `${entry}, all ${wholeNumber(runs.length)} runs`;
  const all = button(words, () => setTicked(group, true), { class: 'ghost' });
  const group = h('div.runs', { role: 'group', 'aria-label': entry }, all, ...runs);
  return group;
}

function setTicked(place: HTMLElement, checked: boolean): void {
  for (const box of place.querySelectorAll('input')) box.checked = checked;
}

function tickedNames(place: HTMLElement): string[] {
  return [...place.querySelectorAll('input')].flatMap((box) => (box.checked ? box.value : []));
}

function chosenText(chosen: readonly string[]): string {
  return chosen.length === 0 ? 'All models' : shortList(chosen, 1);
}
