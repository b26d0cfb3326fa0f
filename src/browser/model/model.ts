import { getPerformance, getResults } from '../service/requests.ts';
import { daysOf } from './days.ts';
import { h, replace } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import { holdingsOverTime } from './holdings.ts';
import { metrics } from './metrics.ts';
import { plots } from './model-plots.ts';
import { dayTable, openPositions, trades } from './model-tables.ts';
import { type Page, heading } from '../parts/page.ts';
import type { ModelReport } from '../service/responses.ts';

/** How many stale dates are named. */
const MAX_NAMED = 5;

/** One model: its curve with the trades on it, drawdown, what it held, what it traded, and all its figures. */
export const showModel: Page = async (host, params, signal) => {
  const model = params['model'] ?? '';
  const content = h('div', { class: 'stack' });
  replace(host, heading(model), content);
  const [{ results }, performance] = await Promise.all([getResults(model, signal), getPerformance(model, signal)]);
  const days = daysOf(results);
  if (days.length === 0) {
    const words = `Model ${model} has no completed model-day. Start a job for it on the overview.`;
    return replace(content, h('p', { class: 'notice' }, words));
  }
  const report = performance.models.find((one) => one.model === model);
  replace(
    content,
    staleNotice(report),
    plots(days, { report, performance, signal }),
    report !== undefined && h('section', {}, h('h2', {}, 'Figures'), metrics(report, performance)),
    h('section', {}, h('h2', {}, 'Holdings over time'), holdingsOverTime(days)),
    h(
      'div',
      { class: 'two' },
      trades(model, results),
      report !== undefined && report.open_positions.length > 0 && openPositions(report),
    ),
    dayTable(model, days),
  );
};

function staleNotice(report: ModelReport | undefined): HTMLElement | null {
  if (report === undefined || report.stale_model_days === 0) return null;
  const dates = report.curve.filter(({ stale }) => stale).map(({ date }) => date);
  const named = dates.slice(0, MAX_NAMED).join(', ') + (dates.length > MAX_NAMED ? ', …' : '');
  const number = counted(report.stale_model_days, 'model-day');
  const words = `${number} stale: what they started from has changed since (${named}).`;
  return h('p', { class: 'notice' }, words);
}
