import { modelDayPath } from '../../basics/paths.ts';
import { getDecisions } from '../api.ts';
import { h } from '../element.ts';
import { count, counted, longDate } from '../format.ts';
import type { Decision } from '../responses.ts';
import { foldAfter, link, section } from '../ui.ts';

/** As many as one response has. */
const LATEST = 200;
/** The other days of a cause are folded. */
const DAYS_AT_FIRST = 12;

/**
 * The failed days of a model by cause, the most frequent first, each with links to its days. Null
 * if none has failed, or if all were completed later.
 */
export async function modelFailures(
  model: string,
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<HTMLElement | null> {
  const chosen = new URLSearchParams({ ...query, model, kind: 'failure', limit: String(LATEST) });
  const { decisions: failed, next_before: next } = await getDecisions(
    `/decisions?${chosen}`,
    signal,
  );
  if (failed.length === 0) return null;
  const causes = [...Map.groupBy(failed, ({ detail }) => detail ?? 'No reason recorded')].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  const title =
    next === null
      ? `${counted(failed.length, 'model-day')} failed`
      : `The latest ${count(LATEST)} failures`;
  return section(title, ...causes.map(([reason, own]) => cause(reason, own)));
}

function cause(reason: string, failed: readonly Decision[]): HTMLElement {
  const days = failed.map(({ model, date }) =>
    h('li', link(modelDayPath(model, date), longDate(date))),
  );
  const [folded] = foldAfter(0, days.slice(DAYS_AT_FIRST), (others) => `${count(others)} more`);
  return h(
    'div',
    h('p.notice.bad', `${counted(failed.length, 'model-day')}: ${reason}`),
    h('ul.failed-days', ...days.slice(0, DAYS_AT_FIRST)),
    folded,
  );
}
