import { getComparison } from '../api.ts';
import { type Filters, queryOf } from '../filters.ts';
import { change, count, counted } from '../format.ts';
import type { ComparedModel, ComparedPair, Comparison } from '../responses.ts';

/** Which model is ahead, and whether that could be chance: what a visitor comes for. */

/** Fewer days do not show how much days differ. */
const DAYS_NEEDED = 20;

/**
 * The answer for the models and days of the filters, as a sentence; null where there is none, such
 * as of more models than are compared.
 */
export async function askWhoLeads(filters: Filters, signal: AbortSignal): Promise<string | null> {
  const names = ['models', 'start_date', 'end_date', 'job_id', 'days'] as const;
  const query = queryOf(filters, names, { looks: 'daily' });
  const comparison = await getComparison(query, signal).catch(() => null);
  return comparison && answerOf(comparison);
}

/** The sentence; null where there are no two models to compare. */
export function answerOf({ models, pairs, days }: Comparison): string | null {
  const [first, second] = models
    .filter((model) => model.total_return !== null)
    .sort((one, other) => (other.total_return ?? 0) - (one.total_return ?? 0));
  if (first === undefined)
    return models.length < 2
      ? null
      : `To say whether a difference could be chance needs ${counted(DAYS_NEEDED, 'day')} in common; ` +
          `there ${days === 1 ? 'is' : 'are'} ${count(days)}.`;
  const made = `${first.model} leads with ${change(first.total_return)} over ${counted(days, 'day')}`;
  if (second === undefined) {
    const none = 'no other model has the days to be compared with it';
    return `${first.model} made ${change(first.total_return)} over ${counted(days, 'day')}; ${none}.`;
  }
  const lead = leadOf(first, second, pairs);
  if (lead === null) return `${made}, level with ${second.model}.`;
  const [low, high] = lead.interval;
  const range = low === null || high === null ? '' : ` (${change(low)} to ${change(high)})`;
  return lead.isShown
    ? `${made}, ahead of ${second.model} by more than chance: ${change(lead.difference)}${range}.`
    : `${made}; its lead of ${change(lead.difference)} over ${second.model} could be chance${range}.`;
}

interface Lead {
  difference: number;
  interval: readonly [low: number | null, high: number | null];
  isShown: boolean;
}

/** Of the first over the second, whichever of the two the pair names first; null without figures. */
function leadOf(
  first: ComparedModel,
  second: ComparedModel,
  pairs: readonly ComparedPair[],
): Lead | null {
  const isPair = (one: ComparedModel, other: ComparedModel) => (pair: ComparedPair) =>
    pair.model === one.model && pair.against === other.model;
  const ahead = pairs.find(isPair(first, second));
  const behind = pairs.find(isPair(second, first));
  const pair = ahead ?? behind;
  if (pair === undefined || pair.difference === null) return null;
  const { difference, interval, shown: isShown } = pair;
  const { low, high } = interval ?? { low: null, high: null };
  if (ahead !== undefined) return { difference, interval: [low, high], isShown };
  return {
    difference: opposite(difference),
    interval: [high === null ? null : opposite(high), low === null ? null : opposite(low)],
    isShown,
  };
}

/** The other model's growth over the one's, minus 1. */
function opposite(difference: number): number {
  return -difference / (1 + difference);
}
