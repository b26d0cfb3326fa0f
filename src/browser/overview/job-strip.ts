import { jobPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { count, counted, jobStatusWords, shortId } from '../format.ts';
import type { Jobs } from '../responses.ts';
import { link } from '../ui.ts';

/** The newest job in one line, which has its place on the page before anything is known. */
export function jobStrip([newest]: Jobs['jobs']): HTMLElement {
  if (newest === undefined) return h('span.quiet', 'No job has run yet');
  const { job_id: id, status, progress, completed_at: end } = newest;
  const { total_model_days: total, pending, failed } = progress;
  const finished =
    end === null
      ? `${count(total - pending)} of ${counted(total, 'model-day')}`
      : counted(total, 'model-day');
  const words = [finished, ...(failed > 0 ? [`${count(failed)} failed`] : [])].join(', ');
  const name = end === null ? 'Job' : 'Last job';
  const state = h(`span.state.${status}`, jobStatusWords[status]);
  return h('span', link(jobPath(id), `${name} ${shortId(id)}`), state, h('span.quiet', words));
}
