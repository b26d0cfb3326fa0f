import { getPerformance } from '../api.ts';
import { type Curves, equityCurves } from '../board/curves.ts';
import { type Leaderboard, leaderboard } from '../board/leaderboard.ts';
import { h, replace } from '../element.ts';
import { type Filters, hasFilters, performanceFilterNames, queryOf } from '../filters.ts';
import { type RefreshFor, recompute } from '../poll.ts';
import type { Performance } from '../responses.ts';
import { failure, link, reasonList, section, viewedFile } from '../ui.ts';

interface ResultsView {
  /** Rejects if the figures could not be requested; where there are none yet, the page says why. */
  show(signal: AbortSignal): Promise<void>;
  refreshFor: RefreshFor;
}

/** Curves and leaderboard of the models that the filters choose. */
export function resultsView(place: HTMLElement, filters: Filters): ResultsView {
  let drawing = new AbortController();
  let shown: { curves: Curves; board: Leaderboard } | null = null;
  const refresh = async (signal: AbortSignal) => {
    const performance = await getPerformance(requestOf(filters), signal);
    if (shown?.curves.update(performance)) return shown.board.update(performance);
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (performance.models.length === 0) return replace(place, nothing(performance, filters));
    const over = AbortSignal.any([signal, drawing.signal]);
    const board = leaderboard(performance, { choice: rankingChoice(filters) });
    shown = { curves: equityCurves(performance, over), board };
    replace(place, shown.curves.element, board.element, comparisonHint(filters));
  };
  const show = async (signal: AbortSignal) => {
    try {
      await refresh(signal);
    } catch (error) {
      if (!signal.aborted && shown === null) replace(place, ...failure(error));
      throw error;
    } finally {
      place.classList.remove('awaited');
    }
  };
  place.classList.add('awaited');
  return { show, refreshFor: recompute((_status, signal) => show(signal)) };
}

/** Unless all days are asked for, the models are ranked over those that they have in common. */
function isCommon({ common }: Filters): boolean {
  return common !== 'false';
}

function requestOf(filters: Filters): string {
  return queryOf(filters, performanceFilterNames, { common: isCommon(filters) ? 'true' : '' });
}

/** Links to the ranking over the days in common and to that over all days. */
function rankingChoice(filters: Filters): HTMLElement {
  const choice = (words: string, common: string) => {
    const isHere = isCommon(filters) === (common === '');
    const entry = link(`/${queryOf({ ...filters, common })}`, words);
    if (isHere) entry.setAttribute('aria-current', 'true');
    return entry;
  };
  return h(
    'nav.segments',
    { 'aria-label': 'Days of the ranking' },
    choice('Days in common', ''),
    choice('Each model’s own days', 'false'),
  );
}

function comparisonHint(filters: Filters): HTMLElement {
  const query = queryOf(filters, performanceFilterNames);
  return h(
    'p',
    'Could the difference be chance? ',
    link(`/compare${query}`, 'Compare the models with intervals'),
    '.',
  );
}

/** What to do while there is nothing to show. */
function nothing(
  { common, without_clean_days: unclean, without_completed_days: failed }: Performance,
  filters: Filters,
): HTMLElement {
  const leftOut = [...(common?.left_out ?? []), ...unclean, ...failed];
  const hasModels = leftOut.length > failed.length || (common?.left_out_days.length ?? 0) > 0;
  if (leftOut.length === 0 && !hasModels && !hasFilters(filters)) return newcomer();
  const reasons = reasonList(leftOut.map(({ model, reason }) => ({ name: model, reason })));
  const none = hasFilters(filters)
    ? 'No completed model-day matches these filters. '
    : 'No model-day was completed. ';
  const words = hasModels ? 'The models have no day in common. ' : none;
  const all = link(
    `/${queryOf({ ...filters, common: 'false' })}`,
    'Show each model over all its days',
  );
  const way = hasModels && isCommon(filters) ? [all, '.'] : [];
  return Object.assign(section('No results', h('p', words, ...way), reasons), {
    className: 'empty',
  });
}

/** What to do while there are no results. */
function newcomer(): HTMLElement {
  if (viewedFile() !== null)
    return Object.assign(section('No results', h('p', 'The file has no completed model-day.')), {
      className: 'empty',
    });
  const job =
    'A job runs every model on every weekday in a range. Each model sees the prices of the morning and trades; its ' +
    'portfolio is valued at the close.';
  const steps = [
    'Choose a first and a last date; two or three weeks make a good start.',
    'Choose models, or choose none to run every model that the server’s configuration enables.',
    'Start the job and watch it here. Curves and the leaderboard appear as model-days complete.',
  ];
  const help = h(
    'p.quiet',
    'To do the same over HTTP, see the examples on the ',
    link('/api', 'API page'),
    '.',
  );
  const list = h('ol', ...steps.map((step) => h('li', step)));
  return Object.assign(section('No results yet', h('p', job), list, help), { className: 'empty' });
}
