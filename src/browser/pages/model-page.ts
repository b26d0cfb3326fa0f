import { runName } from '../../basics/runs.ts';
import { here } from '../address.ts';
import { getJobs, getModels } from '../api.ts';
import { h, replace } from '../element.ts';
import { OFFERED_JOBS, filterBar } from '../filter-bar.ts';
import { type FilterName, type Filters, filtersIn, hasFilters } from '../filters.ts';
import { counted, unbrokenDate } from '../format.ts';
import type { Holdings, ModelReport } from '../responses.ts';
import { type Page, appendInTurn, heading } from '../router.ts';
import { missing, section, viewedFile } from '../ui.ts';
import { entryView } from './job-panel.ts';
import { drawdowns, rollingRisk, valueCurve } from './model-curves.ts';
import { given, type ModelData, modelData } from './model-data.ts';
import { entryOfRun } from './entries.ts';
import { notices } from './leaderboard.ts';
import { entryViews, keyFigures, runTabs } from './model-entry.ts';
import { modelFailures } from './model-failures.ts';
import { modelFigures } from './model-figures.ts';
import { currentHoldings, holdingsOverTime, weightsOverTime } from './model-holdings.ts';
import { monthlyReturns, returnDistribution } from './model-returns.ts';
import { dayTable, profitBySymbol, tradesTable } from './model-trades.ts';

/** Filters that have no meaning for a single model. */
const HIDDEN: FilterName[] = ['models', 'common'];

/**
 * One model: its key figures, the mean of its runs and each of them; one run, or the only one, with
 * its curve with the trades on it, its returns and risk over time, what it held and
 * traded, and all its figures.
 */
export const showModel: Page = async (host, params, signal) => {
  const entryName = params['model'] ?? '';
  const run = /^[1-9]\d{0,8}$/.exec(new URLSearchParams(here().search).get('run') ?? '')?.[0];
  const model = run === undefined ? entryName : runName(entryName, Number(run));
  const filters = filtersIn(here().search);
  const bar = filterBar(filters, { hides: HIDDEN });
  const [tabs, content] = [h('div'), h('div.stack')];
  const title = run === undefined ? entryName : `${entryName} #${run}`;
  replace(host, h('div.bar', heading(title), bar.element), tabs, content);
  const [data, { models }, { jobs }] = await Promise.all([
    modelData(model, { filters, by: run === undefined ? 'entry' : 'run' }, signal),
    getModels(signal),
    getJobs(OFFERED_JOBS, signal),
  ]);
  bar.offer({ jobs });
  const isAll = !('reason' in data || 'report' in data);
  replace(tabs, runTabs(models, { model, isAll }));
  if (isAll) return replace(content, ...entryViews(data.performance, signal));
  if ('reason' in data) {
    const { start_date, end_date, job_id } = filters;
    const failed = await modelFailures(model, given({ start_date, end_date, job_id }), signal);
    return replace(content, ...missing(nothing(model, filters, data.reason)), failed);
  }
  replace(
    content,
    keyFigures(entryOfRun(data.report), data.report.end_value),
    h('p.quiet', spanInWords(data.report)),
    ...notices([data.report]),
  );
  await appendInTurn(content, figureViews(data, signal), signal);
  const entry = models.find(({ signature }) => signature === model)?.entry ?? null;
  const ran = entry === null ? [] : [section('What ran', entryView(entry))];
  await appendInTurn(content, holdingViews(data, await data.held, signal), signal);
  content.append(...ran);
};

function* figureViews(data: ModelData, signal: AbortSignal): Generator<HTMLElement> {
  yield valueCurve(data, signal);
  yield drawdowns(data, signal);
  yield section('Figures', modelFigures(data));
  yield h('div.two.even', monthlyReturns(data), returnDistribution(data));
  yield rollingRisk(data, signal);
}

function* holdingViews(
  data: ModelData,
  held: Holdings,
  signal: AbortSignal,
): Generator<HTMLElement> {
  yield h('div.two.even', profitBySymbol(data), currentHoldings(data.report, held.days.at(-1)));
  yield weightsOverTime(held, signal);
  yield holdingsOverTime(held);
  yield tradesTable(data);
  yield dayTable(data, held.days);
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
