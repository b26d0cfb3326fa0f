import { modelPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { queryForModel } from '../filters.ts';
import { chance, counted, dailyRatio } from '../format.ts';
import type { Leader } from '../responses.ts';
import { definitions, link, section } from '../ui.ts';

const MEANING =
  'The leader has the highest Sharpe ratio, computed from the mean of its runs. Among many models, one looks good by chance. ' +
  'The deflated figure is the probability that the true ratio exceeds the best ratio that as many models without skill would reach.';

/**
 * The model with the highest Sharpe ratio, and how much of that may be the luck of the best of
 * many.
 */
export function leaderSection(leader: Leader): HTMLElement | null {
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
    h('span', 'Leader: ', link(modelPath(model) + queryForModel(location.search), model)),
    figures,
    h('p.quiet', MEANING),
    ...[...reasons].map((reason) => h('p.notice', `${reason}.`)),
  );
}
