import { runName } from '../../basics/runs.ts';
import { here, isPublished } from '../address.ts';
import { get } from '../api.ts';
import { h, replace } from '../element.ts';
import { filterBar } from '../filter-bar.ts';
import { type FilterName, type Filters, filtersIn, hasFilters } from '../filters.ts';
import { counted, unbrokenDate } from '../format.ts';
import type { JobEntry, ModelReport } from '../responses.ts';
import { type Page, heading } from '../router.ts';
import { lateFold, link, missing, section, viewedFile } from '../ui.ts';
import { entryView } from './job-panel.ts';
import { drawdowns, valueCurve } from './model-curves.ts';
import { type ModelData, modelData } from './model-data.ts';
import { entryOfRun } from './entries.ts';
import { notices } from './leaderboard.ts';
import { entryViews, keyFigures, runTabs } from './model-entry.ts';
import { modelFigures } from './model-figures.ts';
import { monthlyReturns } from './model-returns.ts';
import { styleView } from './model-style.ts';
import { currentHoldings, profitBySymbol, tradesTable } from './model-trades.ts';

/** Filters that have no meaning for a single model. */
const HIDDEN: FilterName[] = ['models', 'common'];

/**
 * One model: its key figures, the mean of its runs and each of them; one run, or the only one, with
 * its curve with the trades on it, its months, what it holds and what it traded. All its figures
 * are in a fold.
 */
export const showModel: Page = async (host, params, signal) => {
  const entryName = params['model'] ?? '';
  const run = /^[1-9]\d{0,8}$/.exec(new URLSearchParams(here().search).get('run') ?? '')?.[0];
  const model = run === undefined ? entryName : runName(entryName, Number(run));
  const filters = filtersIn(here().search);
  const bar = filterBar(filters, { hides: HIDDEN }, signal);
  const [tabs, content] = [h('div'), h('div.stack')];
  const title = run === undefined ? entryName : `${entryName} #${run}`;
  replace(host, h('div.bar', heading(title), bar), tabs, content);
  const [data, { models }] = await Promise.all([
    modelData(model, { filters, by: run === undefined ? 'entry' : 'run' }, signal),
    get('/models', '', signal),
  ]);
  const isAll = !('reason' in data || 'report' in data);
  replace(tabs, runTabs(models, { model, isAll }));
  if (isAll) return replace(content, ...entryViews(data.performance, signal));
  if ('reason' in data)
    return replace(content, ...missing(nothing(model, filters, data.reason)), toFailures(model));
  const { report } = data;
  replace(
    content,
    keyFigures(entryOfRun(report), report.end_value, data.performance),
    h('p.quiet', spanInWords(report)),
    ...notices([report]),
    report.failed_model_days > 0 && toFailures(model),
  );
  const entry = models.find(({ signature }) => signature === model)?.entry ?? null;
  content.append(...views(data, entry, signal));
};

function* views(
  data: ModelData,
  entry: JobEntry['entry'] | null,
  signal: AbortSignal,
): Generator<HTMLElement> {
  yield valueCurve(data, signal);
  yield drawdowns(data, signal);
  yield h('div.two.even', monthlyReturns(data), currentHoldings(data.report));
  yield tradesTable(data);
  const style = styleView(data.report.details?.style);
  if (style !== null) yield style;
  yield section(
    'More',
    lateFold('All figures, with their meanings', () => [modelFigures(data)]),
    lateFold('Profit by symbol', () => profitBySymbol(data)),
    entry !== null && lateFold('What the model was asked', () => [entryView(entry)]),
  );
}

/** The feed has every failed model-day with its cause; in a published folder it has no filters. */
function toFailures(model: string): HTMLElement | null {
  if (isPublished()) return null;
  const query = new URLSearchParams({ models: model, kind: 'failure' });
  return h('p', link(`/decision-feed?${query}`, 'Its failed model-days, each with its cause'));
}

/** The days of its figures, which need not be those that it has in common with other models. */
function spanInWords({ model_days: days, start_date: from, end_date: to }: ModelReport): string {
  const [first, last] = [unbrokenDate(from), unbrokenDate(to)];
  return `These figures cover its own ${counted(days, 'model-day')}, from ${first} to ${last}.`;
}

function nothing(model: string, filters: Filters, reason: string | null): string {
  if (reason !== null) return `Model ${model} has no day after its knowledge cutoff. ${reason}.`;
  if (!hasFilters(filters))
    return `Model ${model} has no completed model-days.${viewedFile() === null ? ' Start a job for it on the overview.' : ''}`;
  return `Model ${model} has no completed model-days that match these filters.`;
}
