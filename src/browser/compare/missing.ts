import { count, counted } from '../format.ts';
import type { Comparison } from '../responses.ts';

const TOO_FEW =
  'It has fewer than 20 active model-days in the window; choose it in the filters to compare it anyway';

/**
 * The models without figures, and why: those of the comparison, and those that it did not choose.
 */
export function leftOutModels(
  comparison: Pick<Comparison, 'models' | 'left_out_models'>,
): { model: string; reason: string }[] {
  const own = comparison.models.filter(({ total_return }) => total_return === null);
  const withReasons = own.map(({ model, unavailable }) => ({
    model,
    reason: unavailable['total_return'] ?? 'It has no figures',
  }));
  const others = comparison.left_out_models.map((model) => ({ model, reason: TOO_FEW }));
  return [...withReasons, ...others];
}

/**
 * "3 of 101 days are left out, because not every run has a return: gpt-5#3 (2 days), claude (1
 * day)."
 */
export function costOf({ days, left_out: missing }: Pick<Comparison, 'days' | 'left_out'>): string {
  const costs = new Map<string, number>();
  for (const run of missing.flatMap(({ runs }) => runs)) costs.set(run, (costs.get(run) ?? 0) + 1);
  const runs = [...costs]
    .sort(([, one], [, other]) => other - one)
    .map(([run, cost]) => `${run} (${counted(cost, 'day')})`);
  const all = counted(days + missing.length, 'day');
  const are = missing.length === 1 ? 'is' : 'are';
  return `${count(missing.length)} of ${all} ${are} left out, because not every run has a return: ${runs.join(', ')}.`;
}
