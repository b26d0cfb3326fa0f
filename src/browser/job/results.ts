import { getPerformance } from '../api.ts';
import { equityCurves } from '../board/curves.ts';
import { leaderboard } from '../board/leaderboard.ts';
import { h, replace } from '../element.ts';
import { type RefreshFor, recompute } from '../poll.ts';
import type { Status } from '../responses.ts';
import { link } from '../ui.ts';
import { type CostTable, costSection } from './cost.ts';

/** The curves, the leaderboard and the cost of one job, over its own model-days. */
interface JobResults {
  element: HTMLElement;
  refreshFor: RefreshFor;
}

type Shown = {
  curves: ReturnType<typeof equityCurves>;
  board: ReturnType<typeof leaderboard>;
  cost: CostTable;
};

/** The results of a job, empty until its first refresh. */
export function jobResults(jobId: string): JobResults {
  const element = h('div.stack');
  let drawing = new AbortController();
  let shown: Shown | null = null;
  const refresh = async (status: Status, signal: AbortSignal) => {
    const performance = await getPerformance({ job_id: jobId }, signal);
    if (shown?.curves.update(performance)) {
      shown.board.update(performance);
      return shown.cost.update(performance, status.usage);
    }
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (performance.models.length === 0) return replace(element, h('p.notice', noResults(status)));
    const over = AbortSignal.any([signal, drawing.signal]);
    const cost = costSection(performance, status.usage);
    const query = `?job_id=${encodeURIComponent(jobId)}`;
    const choice = h(
      'p',
      link(`/${query}`, 'Rank these models over the days that they have in common'),
    );
    shown = {
      curves: equityCurves(performance, over),
      board: leaderboard(performance, { choice }),
      cost,
    };
    const compare = link(`/compare${query}`, 'Compare the models of this job with intervals');
    const further = h('p', 'Could the difference be chance? ', compare, '.');
    replace(element, shown.curves.element, shown.board.element, further, cost.element);
  };
  return { element, refreshFor: recompute(refresh) };
}

function noResults({ completed_at, progress }: Status): string {
  if (completed_at === null) return 'Curves and figures appear as model-days complete.';
  if (progress.completed === 0)
    return 'This job has no results: none of its model-days was completed.';
  return 'No results of this job are in use: its model-days were skipped, or later jobs have replaced them.';
}
