import { missing, section } from '../parts/blocks.ts';
import { h, replace } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import { type Page, heading } from '../parts/page.ts';
import { getModels, getPerformance, getResults } from '../service/requests.ts';
import type { ModelReport } from '../service/responses.ts';
import { daysOf } from './days.ts';
import { entryView } from './entry.ts';
import { figures } from './figures.ts';
import { holdingsOverTime } from './holdings.ts';
import { plots } from './model-plots.ts';
import { dayTable, holdingsTable, trades } from './model-tables.ts';

/** How many stale dates are named. */
const MAX_NAMED = 5;

/** One model: its curve with the trades on it, drawdown, what it held, what it traded, and all its figures. */
export const showModel: Page = async (host, params, signal) => {
  const model = params['model'] ?? '';
  const content = h('div.stack');
  replace(host, heading(model), content);
  const [{ results }, performance, { models }] = await Promise.all([
    getResults(model, signal),
    getPerformance({ model }, signal),
    getModels(signal),
  ]);
  const days = daysOf(results);
  if (days.length === 0) {
    const words = `Model ${model} has no completed model-days. Start a job for it on the overview.`;
    return replace(content, ...missing(words));
  }
  const report = performance.models.find((one) => one.model === model);
  const known = models.find(({ signature }) => signature === model);
  replace(
    content,
    report !== undefined && report.stale_model_days > 0 && h('p.notice', staleness(report)),
    report !== undefined && report.days_before_cutoff > 0 && h('p.notice', memory(report)),
    plots(days, { report, performance, signal }),
    report !== undefined && section('Figures', figures(report, performance)),
    section('Holdings over time', holdingsOverTime(days)),
    h(
      'div.two',
      trades(`Trades of ${model}`, results),
      report !== undefined && report.open_positions.length > 0 && holdingsTable(report),
    ),
    dayTable(model, days),
    known !== undefined && section('What ran', entryView(known.entry)),
  );
};

function memory({ days_before_cutoff: days, model_days: all, knowledge_cutoff: cutoff }: ModelReport): string {
  const are = days === 1 ? 'is' : 'are';
  return `${days} of ${counted(all, 'model-day')} ${are} not after the knowledge cutoff, ${cutoff}: the model may remember those prices.`;
}

function staleness({ curve, stale_model_days }: ModelReport): string {
  const dates = curve.filter(({ stale }) => stale).map(({ date }) => date);
  const named = dates.slice(0, MAX_NAMED).join(', ') + (dates.length > MAX_NAMED ? ', …' : '');
  return `${counted(stale_model_days, 'model-day')} stale: the state before has changed since (${named}).`;
}
