import { getComparison } from '../api.ts';
import { comparisonFilterNames, type Filters, queryOf } from '../filters.ts';
import { change, count, counted } from '../format.ts';
import type { Comparison } from '../responses.ts';
import { lookupIn, opposite } from './pair-matrix.ts';

/** Which model is ahead, and whether that could be chance: what a visitor comes for. */

/** Fewer days do not show how much days differ. */
export const DAYS_NEEDED = 20;

/**
 * The answer for the models and days of the filters, as a sentence; null where there is none, such
 * as of more models than are compared.
 */
export async function askWhoLeads(filters: Filters, signal: AbortSignal): Promise<string | null> {
  const query = queryOf(filters, comparisonFilterNames, { looks: 'daily' });
  const comparison = await getComparison(query, signal).catch(() => null);
  return comparison && answerOf(comparison);
}

/**
 * The sentence, of the leader and the next model that it is paired with: where all are compared
 * with one, that is the other. Null where there are no two models to compare.
 */
export function answerOf({ models, pairs, days }: Comparison): string | null {
  const [first, ...others] = models
    .filter((model) => model.total_return !== null)
    .sort((one, other) => (other.total_return ?? 0) - (one.total_return ?? 0));
  if (first === undefined) return models.length < 2 ? null : whatIsMissing(days);
  const find = lookupIn(pairs);
  const second = others.find((other) => find(first.model, other.model) !== null);
  const view = second && find(first.model, second.model);
  const own = `${percent(first.total_return)} over ${counted(days, 'day')}`;
  if (!view) return `${first.model} made ${own}; no other model can be compared with it.`;
  const made = `${first.model} leads with ${own}`;
  if (view.difference === null) return `${made}, level with ${second.model}.`;
  const { pair } = view;
  const isTurned = pair.model !== first.model;
  const ends = [pair.interval?.low ?? null, pair.interval?.high ?? null];
  const [low, high] = isTurned ? ends.map(opposite).reverse() : ends;
  const wider = pair.interval_is_lower_bound ? ' or wider' : '';
  const range = pair.interval === null ? '' : ` (${percent(low)} to ${percent(high)}${wider})`;
  return pair.shown
    ? `${made}, ahead of ${second.model} by more than chance: ${percent(view.difference)}${range}.`
    : `${made}; its lead of ${percent(view.difference)} over ${second.model} could be chance${range}.`;
}

/** The change with a space that does not break. */
function percent(fraction: number | null | undefined): string {
  return change(fraction).replace(' ', '\u00a0');
}

function whatIsMissing(days: number): string {
  if (days >= DAYS_NEEDED) return `No two models can be compared over these ${count(days)} days.`;
  const there = days === 0 ? 'are none' : `${days === 1 ? 'is' : 'are'} ${days}`;
  const needed = counted(DAYS_NEEDED, 'day');
  return `To say whether a difference could be chance needs ${needed} in common; there ${there}.`;
}
