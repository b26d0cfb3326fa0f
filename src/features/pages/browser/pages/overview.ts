import { withoutStudy } from '#domain/runs.ts';
import { jobPath } from '../../paths.ts';
import { pageStudy, pageUrl } from '../address.ts';
import { fetchText, get, send } from '../api.ts';
import { type Child, h, morph, on, replace } from '../element.ts';
import {
  type Filters,
  readFilters,
  hasFilters,
  performanceFilterNames,
  filterQuery,
} from '../filters.ts';
import { filterBar } from '../filter-bar.ts';
import {
  counted,
  entryNames,
  jobStatusLabels,
  nonBreakingDate,
  byName,
  splitNames,
} from '../format.ts';
import { poll, throttleRefresh, pollSoon } from '../poll.ts';
import type {
  Job,
  Jobs,
  Performance,
  Status,
  KnownModels,
  TriggerRequest,
  TriggerResponse,
} from '../../responses.ts';
import { heading, type Page } from '../router.ts';
import {
  failure,
  link,
  localTime,
  reasonList,
  section,
  RETRY_NOTE,
  viewedFile,
  field,
  fillOptions,
  errorText,
  modelCheckbox,
  onSubmit,
  namedOptions,
} from '../ui.ts';
import { jobPanel, newestTrouble } from './job-panel.ts';
import { getAnswer, rankedModels, describeRanking } from './leaderboard.ts';

/** A form that starts a job, folded at first. What the server replies is shown word for word. */
function triggerForm(signal: AbortSignal) {
  const problem = h('p.notice.bad', { role: 'alert', hidden: true });
  const success = h('p.notice.good', { role: 'status', hidden: true });
  const models = h('div.choices');
  const universe = h('select', { name: 'universe' });
  const universes = field('Universe', universe, 'What the models may buy');
  const study = fillOptions(h('select', { name: 'study' }), [], pageStudy() ?? '');
  const studies = field('Study', study, 'Other terms, separate results');
  universes.hidden = studies.hidden = true;
  const form = buildForm(models, [studies, universes], problem, success);
  const show = (place: HTMLElement, words: string) => {
    replace(place, words);
    place.hidden = false;
  };
  onSubmit(form, async (data) => {
    problem.hidden = success.hidden = true;
    try {
      const request = readTriggerRequest(data);
      const response = await send<TriggerResponse>('POST', '/simulate/trigger', request);
      show(success, [response.message, ...(response.warnings ?? [])].join('. '));
      pollSoon();
    } catch (error) {
      show(problem, errorText(error));
    }
  });
  /**
   * Offers the models of the configuration, and those that have results, to choose from; and the
   * universes and studies, if it names some.
   */
  const offer = (all: KnownModels) => {
    const { models: known, universes: names, configuration_error: fault } = all;
    const chosen = new Set(new FormData(form).getAll('models'));
    const entries = known.filter(
      // Each means all its repeats. A name that is only in failed jobs may be a typing error.
      ({ signature, family, configured, completed_model_days: days }) =>
        signature === family && (configured || days > 0),
    );
    entries.sort((one, other) => byName(one.signature, other.signature));
    const choices = entries.map((entry) => {
      const name = withoutStudy(entry.signature, entry.study); // the service adds it
      return modelCheckbox(name, chosen.has(name), entryNote(entry, known));
    });
    replace(models, fault !== null && h('p.notice', fault), ...choices);
    fillOptions(universe, namedOptions('As configured', names), universe.value);
    fillOptions(study, namedOptions('None', all.studies), study.value);
    universes.hidden = names.length === 0;
    studies.hidden = all.studies.length === 0;
  };
  // Each study has its own choice of models.
  on(study, 'change', () => {
    void get('/models', { study: study.value }, signal).then(offer, () => null);
  });
  const element = h('details.start', h('summary', h('h2', 'Start a job')), form);
  return { element, offer };
}

function buildForm(
  models: HTMLElement,
  [studies, universes]: readonly [HTMLElement, HTMLElement],
  ...notices: readonly HTMLElement[]
): HTMLFormElement {
  const first = h('input', { type: 'date', name: 'start_date' });
  const last = h('input', { type: 'date', name: 'end_date', required: true });
  const plain = { autocomplete: 'off', spellcheck: 'false' };
  const others = h('input', { name: 'others', ...plain, placeholder: 'signature, signature' });
  return h(
    'form.trigger',
    { novalidate: true },
    studies,
    h(
      'div.pair',
      field('First date', first, 'Leave empty to continue after each model’s last day'),
      field('Last date', last, 'Not in the future'),
    ),
    h(
      'fieldset',
      h('legend', 'Models'),
      h('p.quiet', 'Choose none to run all enabled models'),
      models,
    ),
    field('Other models', others),
    universes,
    h(
      'label.check',
      h('input', { type: 'checkbox', name: 'replace_existing' }),
      'Replace existing results',
    ),
    ...notices,
    h('button.primary', { type: 'submit' }, 'Start job'),
  );
}

type KnownModel = KnownModels['models'][number];

/** What is unusual about an entry: that a job runs it several times, or that it is not enabled. */
function entryNote({ signature, enabled }: KnownModel, known: readonly KnownModel[]): string {
  const runs = known.filter(({ family, configured }) => configured && family === signature).length;
  return [runs > 1 && `${runs} runs`, !enabled && 'not enabled'].filter(Boolean).join(', ');
}

function readTriggerRequest(form: FormData): TriggerRequest {
  const read = (name: string) => String(form.get(name) ?? '');
  // The ticked models, and those written into the field for others, each once.
  const models = new Set([...form.getAll('models').map(String), ...splitNames(read('others'))]);
  return {
    start_date: read('start_date') || null,
    end_date: read('end_date'),
    models: models.size === 0 ? null : [...models],
    universe: read('universe') || null,
    replace_existing: form.has('replace_existing'),
    ...(read('study') !== '' && { study: read('study') }),
  };
}

const LATEST_JOBS = 8;

/**
 * Which model leads, what is running, and a form to run more. Results, jobs and models are
 * requested side by side and shown as they arrive, each in a place that it has from the start.
 */
export const showOverview: Page = async (host, _params, signal) => {
  const filters = readFilters(pageUrl().search);
  const places = {
    alarm: h('div.trouble-place'),
    trouble: h('div.trouble-place'),
    results: h('div.stack'),
    job: h('div'),
    jobs: h('div'),
  };
  const [form, bar] = [triggerForm(signal), filterBar(filters, {}, signal)];
  const main = h('div.stack', places.alarm, places.results, places.trouble, places.job);
  const side = h(
    'aside.stack',
    { 'aria-label': 'Jobs' },
    viewedFile() === null && form.element,
    places.jobs,
  );
  replace(host, h('div.bar', heading('Overview'), bar), h('div.columns', main, side));
  const unfold = () => (bar.open = form.element.open = true);
  const results = resultsView(places.results, { filters, unfold }, signal);
  const showJobs = jobsView(places, signal);
  let lacksResults = false;
  const [newest] = await Promise.all([
    showJobs(),
    results.show().catch(() => (lacksResults = true)),
    get('/models', '', signal).then(form.offer),
  ]);
  const follow = jobFollower(places.job, newest, signal);
  return () =>
    poll(async () => {
      if (lacksResults) await results.show();
      lacksResults = false;
      const status = await follow(await showJobs());
      const hasMoved = status !== null && (await results.refreshFor(status));
      return status?.completed_at === null || hasMoved ? 'moving' : 'still';
    }, signal);
};

/** Shows the latest jobs, and returns the newest one; if any job is unfinished, it is that one. */
function jobsView(
  { alarm, trouble, jobs: place }: Record<'alarm' | 'trouble' | 'jobs', HTMLElement>,
  signal: AbortSignal,
): () => Promise<Job | null> {
  const list = h('ul.jobs');
  const latest = section('Latest jobs', list, link('/job-list', 'All jobs'));
  return async () => {
    // Of all studies: the service runs one job at a time.
    const text = await fetchText(`/jobs?limit=${LATEST_JOBS}`, { signal });
    const all = JSON.parse(text) as Jobs;
    const jobs = all.jobs.slice(0, LATEST_JOBS); // a published folder has all in one file
    const failures = newestTrouble(jobs);
    const isAlarm = failures !== false && failures.matches('.bad');
    morph(alarm, isAlarm && failures);
    morph(trouble, !isAlarm && failures); // a few do not stand above the answer
    morph(list, ...jobs.map(jobItem));
    morph(place, jobs.length > 0 && latest);
    return jobs[0] ?? null;
  };
}

/**
 * Shows the newest job, unless it had ended before the page was opened: such a job has a page of
 * its own.
 */
function jobFollower(
  place: HTMLElement,
  first: Job | null,
  signal: AbortSignal,
): (newest: Job | null) => Promise<Status | null> {
  let current: { jobId: string; panel: ReturnType<typeof jobPanel>; last: Status | null } | null =
    null;
  const ended = first?.completed_at == null ? null : first.job_id;
  return async (newest) => {
    if (newest === null || newest.job_id === ended) return null;
    const { job_id: jobId } = newest;
    if (current?.jobId !== jobId) {
      current = { jobId, panel: jobPanel(jobId, { titled: true }), last: null };
      replace(place, current.panel.element);
    }
    if (current.last?.completed_at == null) current.last = await current.panel.refresh(signal);
    return current.last;
  };
}

function jobItem(job: Job): HTMLElement {
  const { job_id: id, status, start_date: first, end_date: last, models, universe, study } = job;
  const state = h(`span.state.${status}`, jobStatusLabels[status]);
  return h(
    'li',
    link(jobPath(id), state, ` ${nonBreakingDate(first)} to ${nonBreakingDate(last)}`),
    h(
      'span.quiet',
      `${counted(entryNames(models).length, 'model')}, `,
      study !== null && `study ${study}, `,
      universe !== null && `universe ${universe}, `,
      localTime(job.created_at),
    ),
  );
}

/** The answer, curves and leaderboard of the models that the filters choose. */
function resultsView(
  place: HTMLElement,
  { filters, unfold }: { filters: Filters; unfold: () => void },
  signal: AbortSignal,
) {
  const query = filterQuery(filters, performanceFilterNames);
  const detailed = () => get('/performance', rankingQuery(filters, { details: 'true' }), signal);
  const ranked = rankedModels({ choice: rankingChoice(filters), query, detailed }, signal);
  const refresh = async () => {
    // Together, so that nothing moves when the sentence comes.
    const [performance, answer] = await Promise.all([
      get('/performance', rankingQuery(filters), signal),
      getAnswer(query, signal),
    ]);
    if (performance.models.length === 0) {
      unfold();
      return replace(place, emptyResults(performance, filters));
    }
    ranked.update({ performance, answer });
    morph(place, ranked.element);
  };
  /** Rejects if the figures could not be requested; where there are none yet, the page says why. */
  const show = async () => {
    try {
      await refresh();
    } catch (error) {
      if (!signal.aborted && !ranked.element.isConnected)
        replace(place, ...failure(error, ` ${RETRY_NOTE}`));
      throw error;
    } finally {
      place.classList.remove('awaited');
    }
  };
  place.classList.add('awaited');
  return { show, refreshFor: throttleRefresh(show) };
}

/** Unless all days are asked for, the models are ranked over those that they have in common. */
function isCommon({ common }: Filters): boolean {
  return common !== 'false';
}

function rankingQuery(filters: Filters, more: Record<string, string> = {}): string {
  return filterQuery(filters, performanceFilterNames, {
    common: isCommon(filters) ? 'true' : '',
    by: 'entry',
    ...more,
  });
}

/** Links to the ranking over the days in common and to that over all days. */
function rankingChoice(filters: Filters): HTMLElement {
  const choice = (words: string, common: string) => {
    const isHere = isCommon(filters) === (common === '');
    const href = `/${filterQuery({ ...filters, common })}`;
    return h('a', { href, 'aria-current': isHere && 'true' }, words);
  };
  return h(
    'nav.segments',
    { 'aria-label': 'Days of the ranking' },
    choice('Days in common', ''),
    choice('Each model’s own days', 'false'),
  );
}

/** What to do while there is nothing to show. */
function emptyResults(performance: Performance, filters: Filters): HTMLElement {
  const { models, days } = describeRanking(performance);
  const failed = performance.without_completed_days.length;
  const hasModels = models.length > failed || days.length > 0;
  if (models.length === 0 && !hasModels && !hasFilters(filters)) return firstRunHint();
  const none = hasFilters(filters)
    ? 'No completed model-day matches these filters. '
    : 'No model-day was completed. ';
  const allDays = `/${filterQuery({ ...filters, common: 'false' })}`;
  const way =
    hasModels && isCommon(filters) ? [link(allDays, 'Show each model over all its days'), '.'] : [];
  return emptySection(
    hasModels ? 'The models have no day in common' : 'No results',
    h('p', !hasModels && none, ...way),
    reasonList(models),
  );
}

/** What to do while there are no results. */
function firstRunHint(): HTMLElement {
  if (viewedFile() !== null)
    return emptySection('No results', h('p', 'The file has no completed model-day.'));
  return emptySection(
    'No results yet',
    h(
      'p',
      'Start a job: it runs every model on every weekday in a range; two or three weeks make a good start. Each ' +
        'model sees the prices of the morning and trades; its portfolio is valued at the close. Curves and the ' +
        'leaderboard appear here as model-days complete.',
    ),
    h('p.quiet', 'To do the same over HTTP, see the ', link('/api', 'API page'), '.'),
  );
}

function emptySection(title: string, ...content: readonly Child[]): HTMLElement {
  return Object.assign(section(title, ...content), { className: 'empty' });
}
