import { modelPath } from '../../page-paths.ts';
import { queryForModel } from '../filters/carry.ts';
import { definitions, link, section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { chance, counted, dailyRatio } from '../parts/format.ts';
import type { Leader } from '../service/responses.ts';

const MEANING =
  'The model with the highest Sharpe ratio of its mean run. Among many models that were tried, one looks good by chance; ' +
  'the deflated figure is the probability that its true ratio is above what the best of as many models without skill ' +
  'would reach.';

/** The model with the highest Sharpe ratio, and how much of that may be the luck of the best of many. */
export function leaderSection(leader: Leader): HTMLElement | null {
  const { model, unavailable } = leader;
  if (model === null) return null;
  const tried = counted(leader.trials, 'model');
  const figures = definitions('figures', [
    ['Sharpe ratio, per day', dailyRatio(leader.sharpe_ratio_daily)],
    ['Probability that its true ratio is above 0', chance(leader.probabilistic_sharpe_ratio)],
    [`The same, deflated for ${tried} tried`, chance(leader.deflated_sharpe_ratio)],
    [`Best ratio of ${tried} by chance`, dailyRatio(leader.expected_best_sharpe_ratio_daily)],
  ]);
  const reasons = new Set(Object.values(unavailable));
  return section(
    h('span', 'Leader: ', link(modelPath(model) + queryForModel(location.search), model)),
    figures,
    h('p.quiet', MEANING),
    ...[...reasons].map((reason) => h('p.notice', `${reason}.`)),
  );
}
