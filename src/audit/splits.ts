import type { PositionRow } from '../database/sessions.ts';
import type { KnownSplit } from '../database/evidence.ts';
import { money } from '../money.ts';
import { type Portfolio, applySplit, quantityOf } from '../trading/portfolio.ts';
import { nameOf } from './evidence.ts';
import type { Note } from './notes.ts';
import { type Act, type RightPrice, afterRecord, atAction, checkPrice, refuse } from './outcome.ts';

/** The splits that a session knew, and the value of its holdings in the morning. */
export interface SplitEvidence {
  splits: readonly KnownSplit[];
  markOf: (symbol: string) => RightPrice;
}

/**
 * Applies again the splits since the day that a session started from, and compares them with its first records. Returns for
 * each of these the portfolios it may have left, as `replay` does for all records.
 */
export function replaySplits(
  records: readonly PositionRow[],
  starts: readonly Portfolio[],
  { splits, markOf, note }: SplitEvidence & { note: Note },
): (readonly Portfolio[])[] {
  let before = starts;
  let next = 0;
  const skipTo = (index: number) => {
    for (const split of splits.slice(next, index))
      if (before.every((portfolio) => quantityOf(portfolio, split.symbol) > 0))
        note(`the split of ${split.symbol} on ${split.date} (${nameOf(split)}) has no record`);
    next = index + 1;
  };
  const after = records.map((record) => {
    const noteHere = atAction(record, note);
    const index = splits.findIndex(({ symbol }, place) => place >= next && symbol === record.symbol);
    if (index !== -1) skipTo(index);
    const later = splits.slice(index + 1).filter(({ symbol }) => symbol === record.symbol);
    const act = actOf(record, { split: splits[index], later, markOf }, noteHere);
    before = afterRecord(record, before.map(act), noteHere);
    return before;
  });
  skipTo(splits.length);
  return after;
}

function actOf(
  record: PositionRow,
  { split, later, markOf }: Pick<SplitEvidence, 'markOf'> & { split: KnownSplit | undefined; later: readonly KnownSplit[] },
  note: Note,
): Act {
  if (split === undefined) return refuse(`no split of ${record.symbol} was known`);
  const { symbol, numerator, denominator } = split;
  if (numerator === null || denominator === null) {
    note(`the ratio of the split of ${symbol} on ${split.date} is no longer known`, { isComplete: false });
    return () => record;
  }
  const price = checkPrice(record, inShares(markOf(symbol), later), note);
  if (price === null) return refuse('it has no price');
  return (before) => {
    const { portfolio, added } = applySplit(before, { symbol, numerator, denominator, price });
    if (added === record.amount) return portfolio;
    return `amount of ${symbol} is ${record.amount}, the split ${nameOf(split)} of ${quantityOf(before, symbol)} adds ${added}`;
  };
}

/** Fractions are paid at the morning's mark, converted back to the shares of this split where others follow it. */
function inShares(mark: RightPrice, later: readonly KnownSplit[]): RightPrice {
  if (mark === null || mark === 'unknown') return mark;
  let ratio = 1;
  for (const { numerator, denominator } of later) {
    if (numerator === null || denominator === null) return 'unknown';
    ratio *= numerator / denominator;
  }
  return money(Math.round(mark * ratio));
}
