import { MISSING, count, price } from '../parts/format.ts';
import type { Decision } from '../service/responses.ts';

/** What a model decided, in a few words: "Bought 10 AAPL at 231.20". */
export function decisionWords({ kind, side, amount, symbol, price: paid }: Decision): string {
  if (kind === 'failure') return 'Failed';
  if (kind === 'no_trade') return 'No trade';
  const order = `${count(amount)} ${symbol ?? MISSING}`;
  if (kind === 'refusal') return `Refused: ${side ?? 'order of'} ${order}`;
  return `${side === 'sell' ? 'Sold' : 'Bought'} ${order} at ${price(paid)}`;
}

/** The decisions of a day in the order in which they were made, each with its reason unless the one before has the same. */
export function inOrder(newestFirst: readonly Decision[]): Decision[] {
  const all = newestFirst.toReversed();
  return all.map((decision, index) => {
    const isSaid = index > 0 && all[index - 1]?.reason === decision.reason;
    return isSaid ? { ...decision, reason: null } : decision;
  });
}
