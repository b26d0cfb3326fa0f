import { failure, link, section } from '../parts/blocks.ts';
import { h, replace } from '../parts/element.ts';
import { chance, change, counted, ratio, share } from '../parts/format.ts';
import { type Page, heading } from '../parts/page.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import { getComparison, getModels, getPerformance } from '../service/requests.ts';
import type { ComparedModel, Comparison } from '../service/responses.ts';
import { type BenchmarkReturn, benchmarkOver } from './benchmark.ts';
import { choiceForm } from './choice-form.ts';
import { choiceOf, queryOf } from './choice.ts';
import { forest } from './forest.ts';
import { leaderSection } from './leader.ts';
import { leftOut } from './left-out.ts';
import { matrix } from './matrix.ts';
import { leftOutModels } from './missing.ts';
import { measured, neighbours } from './pairs.ts';

const NO_BENCHMARK = { reason: 'The benchmark is not drawn: its figures could not be loaded.' };

/** Whether one model trades better than another, or the difference may be chance. */
export const showCompare: Page = async (host, _params, signal) => {
  const choice = choiceOf(location.search);
  const form = choiceForm(choice);
  const content = h('div.stack');
  replace(host, heading('Compare'), h('div.columns', content, h('aside.stack', form.element)));
  const window = {
    ...(choice.start_date !== '' && { start_date: choice.start_date }),
    ...(choice.end_date !== '' && { end_date: choice.end_date }),
  };
  const load = async () => {
    const figures = getPerformance(window, signal).catch(() => null);
    const offered = getModels(signal).then((known) => form.offer(known));
    const [comparison, performance] = await Promise.all([getComparison(queryOf(choice), signal), figures, offered]);
    const isClean = choice.days === 'clean';
    const benchmark = performance === null ? NO_BENCHMARK : benchmarkOver(comparison, performance, { isClean });
    return parts(comparison, benchmark);
  };
  replace(content, ...(await load().catch(failure)));
};

function parts(comparison: Comparison, benchmark: BenchmarkReturn): (HTMLElement | null)[] {
  const models = measured(comparison.models);
  if (models.length === 0) {
    const words = 'There is nothing to compare: no model has figures in this window. Figures need 20 days. Start a job on the ';
    return [h('p.notice', words, link('/', 'overview'), '.'), leftOutModels(comparison).length > 0 ? leftOut(comparison) : null];
  }
  const confidence = inPercent(comparison.confidence);
  const { pairs, days } = comparison;
  const shown = neighbours(models, pairs);
  const options = { confidence, days, benchmark: 'value' in benchmark ? benchmark : null };
  return [
    section('Returns', h('p', summary(comparison)), forest(models, options), note(benchmark), modelTable(models)),
    pairs.length === 0
      ? null
      : section(
          'Differences',
          h('ul.sentences', ...shown.map((pair) => h('li', { class: pair.shown && 'shown' }, pair.sentence))),
          matrix(models.map(({ model }) => model), pairs),
        ),
    leaderSection(comparison.leader),
    leftOut(comparison),
    conventions(comparison.conventions),
  ];
}

/** `95 %`: 0.95 as it was chosen. */
function inPercent(confidence: number): string {
  return `${Number((confidence * 100).toFixed(4))} %`;
}

function summary({ days, start_date: from, end_date: to, clean_after: cutoff, models }: Comparison): string {
  const runs = measured(models).reduce((sum, model) => sum + model.runs.length, 0);
  const window = from === null || to === null ? '' : ` from ${from} to ${to}`;
  const clean = cutoff === null ? '' : ` Only days after ${cutoff}, the latest knowledge cutoff, are compared.`;
  return (
    `${counted(days, 'day')}${window} on which all ${counted(runs, 'run')} have a return. Every return here covers these ` +
    `days only.${clean} The order is that of the last column, the probability of being the best.`
  );
}

function note(benchmark: BenchmarkReturn): HTMLElement | null {
  return 'reason' in benchmark ? h('p.quiet', benchmark.reason) : null;
}

/** The figures behind the plot, folded. */
function modelTable(models: readonly ComparedModel[]): HTMLElement {
  const columns = [
    textColumn<ComparedModel>('Model', ({ model }) => model, { isName: true }),
    numberColumn<ComparedModel>('Return', (row) => row.total_return, change),
    numberColumn<ComparedModel>('Best', (row) => row.probability_best, chance),
    numberColumn<ComparedModel>('Standard error, per day', (row) => row.standard_error_daily, share),
    numberColumn<ComparedModel>('Degrees of freedom', (row) => row.degrees_of_freedom, ratio),
    numberColumn<ComparedModel>('Variance from runs', (row) => row.variance_share_of_runs, share),
    textColumn<ComparedModel>('Runs', runsText, { look: () => 'runs' }),
  ];
  const figures = table({ caption: 'Figures of the models', rows: models, columns });
  return h('details.fold', h('summary', 'Figures, and the return of each run'), figures);
}

/** `#1 +3.10 %, #2 +1.18 %`: the first run has the model's own name. */
function runsText({ model, runs, run_returns: returns }: ComparedModel): string {
  const names = runs.map((run) => (run === model ? '#1' : run.startsWith(`${model}#`) ? run.slice(model.length) : run));
  return names.map((name, index) => `${name} ${change(returns[index])}`).join(', ');
}

/** How the figures are computed, in the service's own words. */
function conventions(words: Comparison['conventions']): HTMLElement {
  const list = Object.entries(words).map(([name, meaning]) =>
    h('div', h('dt', name.replaceAll('_', ' ')), h('dd', meaning)),
  );
  return section('How it is computed', h('details.fold', h('summary', 'Conventions'), h('dl.meanings', ...list)));
}
