import { getComparison, getJobs, getModels, getPerformance } from '../api.ts';
import { h, replace } from '../element.ts';
import { OFFERED_JOBS, filterBar } from '../filter-bar.ts';
import { modelLink } from '../filters.ts';
import { byName, chance, change, count, counted, dailyRatio, ratio, share } from '../format.ts';
import type { ComparedModel, Comparison, Leader, Performance } from '../responses.ts';
import { type Page, heading } from '../router.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { definitions, failure, reasonList, section, wayToAJob } from '../ui.ts';
import {
  type Choice,
  choiceIn,
  optionsForm,
  performanceRequest,
  requestOf,
} from './compare-options.ts';
import { type BenchmarkReturn, benchmarkOver, forest } from './forest.ts';
import { matrix, measured, neighbours } from './pair-matrix.ts';
import { fitsSideBySide, sideBySide } from './side-by-side.ts';

const NO_FIGURES =
  'There is nothing to compare: no model has figures in this window. Figures need 20 days that every model has started from the ' +
  'same close.';
const NO_BENCHMARK = { reason: 'The benchmark is not drawn: its figures could not be loaded.' };

/**
 * Whether one model trades better than another, or the difference may be chance; two to four also
 * side by side.
 */
export const showCompare: Page = async (host, _params, signal) => {
  const choice = choiceIn(location.search);
  const bar = filterBar(choice.filters, { hides: ['common'] });
  const options = optionsForm(choice);
  const content = h('div.stack');
  replace(
    host,
    heading('Compare'),
    section('What to compare', bar.element, options.element),
    content,
  );
  const offerModels = async () => {
    const { models } = await getModels(signal);
    const withDays = models.filter(({ completed_model_days: days }) => days > 0);
    const names = [
      ...new Set(withDays.flatMap(({ family, signature }) => [family, signature])),
    ].sort(byName);
    bar.offer({ models: names });
    options.offer(names);
  };
  const [shown] = await Promise.all([
    load(choice, signal).catch(failure),
    offerModels().catch(() => undefined),
  ]);
  replace(content, ...shown);
  return async () => bar.offer({ jobs: (await getJobs(OFFERED_JOBS, signal)).jobs });
};

async function load(choice: Choice, signal: AbortSignal): Promise<(HTMLElement | null)[]> {
  const { models: chosen } = choice.filters;
  const { against } = choice.options;
  const named =
    chosen.length === 0 ? [] : [...new Set([...chosen, ...(against === '' ? [] : [against])])];
  const isSmall = fitsSideBySide(named);
  const figuresOf = (models: readonly string[], isCommon = true) =>
    getPerformance(performanceRequest(choice, models, { isCommon }), signal).catch(() => null);
  const figures = isSmall ? figuresOf(named) : null;
  let comparison = await getComparison(requestOf(choice, { curves: isSmall }), signal);
  const names = comparison.models.map(({ model }) => model);
  if (!fitsSideBySide(names))
    return views(comparison, { choice, performance: await figuresOf(named, false), signal });
  const performance = figures ?? figuresOf(names);
  if (!isSmall) comparison = await getComparison(requestOf(choice, { curves: true }), signal);
  return views(comparison, { choice, performance: await performance, signal });
}

interface Loaded {
  choice: Choice;
  /**
   * Of two to four models over the days that they have in common; null where they could not be
   * loaded.
   */
  performance: Performance | null;
  signal: AbortSignal;
}

async function views(
  comparison: Comparison,
  { choice, performance, signal }: Loaded,
): Promise<(HTMLElement | null)[]> {
  const isClean = choice.filters.days === 'clean';
  const benchmark =
    performance === null ? NO_BENCHMARK : benchmarkOver(comparison, performance, { isClean });
  const models = measured(comparison.models);
  const sides = await sideBySide(comparison, performance, signal);
  const isAnyLeftOut = leftOutModels(comparison).length > 0;
  if (models.length === 0)
    return [
      h('p.notice', NO_FIGURES, ...wayToAJob('Start a job')),
      ...sides,
      isAnyLeftOut ? leftOut(comparison) : null,
    ];
  const confidence = inPercent(comparison.confidence);
  const { pairs, days } = comparison;
  const shown = neighbours(models, pairs);
  const options = { confidence, days, benchmark: 'value' in benchmark ? benchmark : null };
  return [
    section(
      'Returns',
      h('p', summary(comparison)),
      forest(models, options),
      note(benchmark),
      modelTable(models),
    ),
    pairs.length === 0
      ? null
      : section(
          'Differences',
          h(
            'ul.sentences',
            ...shown.map((pair) => h('li', { class: pair.shown && 'shown' }, pair.sentence)),
          ),
          matrix(
            models.map(({ model }) => model),
            pairs,
          ),
        ),
    ...sides,
    leaderSection(comparison.leader),
    leftOut(comparison),
    conventions(comparison.conventions),
  ];
}

/** `95 %`: 0.95 as it was chosen. */
function inPercent(confidence: number): string {
  return `${Number((confidence * 100).toFixed(4))} %`;
}

function summary({
  days,
  left_out: leftOut,
  start_date: from,
  end_date: to,
  clean_after: cutoff,
  looks,
  models,
}: Comparison): string {
  const runs = measured(models).reduce((sum, model) => sum + model.runs.length, 0);
  const runsHave = runs === 1 ? 'the run has' : `all ${counted(runs, 'run')} have`;
  const all = days + leftOut.length;
  const part = leftOut.length === 0 ? '' : `${count(days)} of the `;
  const window = from === null || to === null ? '' : ` from ${from} to ${to}`;
  const clean =
    cutoff === null ? '' : ` Only days after ${cutoff}, the latest knowledge cutoff, are compared.`;
  const always =
    looks === 'once' ? '' : ' Intervals hold for all days at once, whichever you look on.';
  return (
    `On ${part}${counted(all, 'day')}${window} ${runsHave} a return from the same close. Every return here covers only these ` +
    `days.${clean}${always} Models are sorted by the last column, the probability of being the best.`
  );
}

function note(benchmark: BenchmarkReturn): HTMLElement | null {
  return 'reason' in benchmark ? h('p.quiet', benchmark.reason) : null;
}

type Figure =
  | 'total_return'
  | 'probability_best'
  | 'standard_error_daily'
  | 'degrees_of_freedom'
  | 'variance_share_of_runs';

/** The figures behind the plot, folded. */
function modelTable(models: readonly ComparedModel[]): HTMLElement {
  const figure = (title: string, name: Figure, format: typeof change) =>
    numberColumn<ComparedModel>(title, (row) => row[name], format, {
      reason: ({ unavailable }) => unavailable[name],
    });
  const columns = [
    textColumn<ComparedModel>('Model', ({ model }) => model, { isName: true }),
    figure('Return', 'total_return', change),
    figure('Best', 'probability_best', chance),
    figure('Standard error, per day', 'standard_error_daily', share),
    figure('Degrees of freedom', 'degrees_of_freedom', ratio),
    figure('Variance from runs', 'variance_share_of_runs', share),
    {
      title: 'Runs',
      by: ({ runs }: ComparedModel) => runs.length,
      cell: runsText,
      raw: runsText,
      look: () => 'runs',
    },
  ];
  const figures = table({ caption: 'Figures of the models', rows: models, columns });
  return h('details.fold', h('summary', 'Figures, and the return of each run'), figures);
}

/** `#1 +3.10 %, #2 +1.18 %`: the first run has the model's own name. */
function runsText({ model, runs, run_returns: returns }: ComparedModel): string {
  const names = runs.map((run) =>
    run === model ? '#1' : run.startsWith(`${model}#`) ? run.slice(model.length) : run,
  );
  return names.map((name, index) => `${name} ${change(returns[index])}`).join(', ');
}

/** How the figures are computed, in the service's own words. */
function conventions(words: Comparison['conventions']): HTMLElement {
  const list = Object.entries(words).map(([name, meaning]) =>
    h('div', h('dt', name.replaceAll('_', ' ')), h('dd', meaning)),
  );
  return section(
    'How it is computed',
    h('details.fold', h('summary', 'Conventions'), h('dl.meanings', ...list)),
  );
}

const MEANING =
  'The leader has the highest Sharpe ratio, computed from the mean of its runs. Among many models, one looks good by chance. ' +
  'The deflated figure is the probability that the true ratio exceeds the best ratio that as many models without skill would reach.';

/**
 * The model with the highest Sharpe ratio, and how much of that may be the luck of the best of
 * many.
 */
function leaderSection(leader: Leader): HTMLElement | null {
  const { model, unavailable } = leader;
  if (model === null) return null;
  const tried = counted(leader.trials, 'model');
  const figures = definitions('figures', [
    ['Sharpe ratio, per day', dailyRatio(leader.sharpe_ratio_daily)],
    ['Probability that the true ratio is above 0', chance(leader.probabilistic_sharpe_ratio)],
    [`The same, deflated for ${tried}`, chance(leader.deflated_sharpe_ratio)],
    [`Best ratio by chance among ${tried}`, dailyRatio(leader.expected_best_sharpe_ratio_daily)],
  ]);
  const reasons = new Set(Object.values(unavailable));
  return section(
    h('span', 'Leader: ', modelLink(model)),
    figures,
    h('p.quiet', MEANING),
    ...[...reasons].map((reason) => h('p.notice', `${reason}.`)),
  );
}

/** How many days are listed until the reader asks for all. */
const ROWS_AT_FIRST = 10;

type LeftOutDay = Comparison['left_out'][number];

/** The days and the models that the comparison does not use, and why. */
function leftOut(comparison: Comparison): HTMLElement {
  const { left_out: days, align } = comparison;
  const models = leftOutModels(comparison);
  if (days.length + models.length === 0)
    return section(
      'Left out',
      h('p.quiet', 'Nothing: every run has a return on every day, from the same close.'),
    );
  const entries = models.map(({ model, reason }) => ({ name: model, reason }));
  const columns = [
    textColumn<LeftOutDay>(align === 'number' ? 'Day' : 'Date', dayOf, { isName: true }),
    textColumn<LeftOutDay>('Runs', ({ runs }) => runs.join(', ')),
    textColumn<LeftOutDay>('Why', ({ reason }) => reason),
  ];
  return section(
    'Left out',
    reasonList(entries, { 'aria-label': 'Models left out' }),
    days.length > 0 && h('p', costOf(comparison)),
    days.length > 0 &&
      table({ caption: 'Days left out', rows: days, columns, most: ROWS_AT_FIRST, isFixed: true }),
  );
}

function dayOf({ date, number }: LeftOutDay): string {
  return date ?? count(number);
}

const TOO_FEW =
  'It has fewer than 20 active model-days in the window; choose it in the filters to compare it anyway';

/**
 * The models without figures, and why: those of the comparison, and those that it did not choose.
 */
export function leftOutModels(
  comparison: Pick<Comparison, 'models' | 'left_out_models'>,
): { model: string; reason: string }[] {
  const own = comparison.models.filter(({ total_return }) => total_return === null);
  const withReasons = own.map(({ model, unavailable }) => ({
    model,
    reason: unavailable['total_return'] ?? 'It has no figures',
  }));
  const others = comparison.left_out_models.map((model) => ({ model, reason: TOO_FEW }));
  return [...withReasons, ...others];
}

/**
 * "3 of 101 days are left out, because not every run started them from the same close: gpt-5#3 (2
 * days), claude (1 day)."
 */
export function costOf({ days, left_out: missing }: Pick<Comparison, 'days' | 'left_out'>): string {
  const costs = new Map<string, number>();
  for (const run of missing.flatMap(({ runs }) => runs)) costs.set(run, (costs.get(run) ?? 0) + 1);
  const runs = [...costs]
    .sort(([, one], [, other]) => other - one)
    .map(([run, cost]) => `${run} (${counted(cost, 'day')})`);
  const all = counted(days + missing.length, 'day');
  const are = missing.length === 1 ? 'is' : 'are';
  const started = `not every run started ${missing.length === 1 ? 'it' : 'them'} from the same close`;
  return `${count(missing.length)} of ${all} ${are} left out, because ${started}: ${runs.join(', ')}.`;
}
