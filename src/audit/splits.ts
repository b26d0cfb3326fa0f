import type { LedgerRecord, SplitVersion } from '../database/audit.ts';
import { type Money, money } from '../money.ts';
import { type Portfolio, applySplit, quantityOf } from '../trading/portfolio.ts';
import type { AsOf, PricesAsOf } from './as-of.ts';
import { type Note, createNotes } from './notes.ts';
import { type Act, afterRecord, atAction, priceOf, refuse } from './outcome.ts';

/** Ways in which splits that were changed about the time of a session may have been known to it, that are tried. */
const MAX_HISTORIES = 64;

/**
 * Applies again the splits since the day that a session started from, and compares them with its first records. Returns
 * for each of these the portfolios it may have left, as `replay` does for all records.
 */
export function replaySplits(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { prices, note }: { prices: PricesAsOf; note: Note },
): Portfolio[][] {
  const held = new Set(starts.flatMap(({ holdings }) => [...holdings.keys()]));
  const known = prices.splits([...held]);
  const histories = historiesOf(known.map(({ choices }) => choices));
  for (const splits of histories) {
    const quiet = createNotes();
    const portfolios = walk(records, starts, { splits, prices, note: quiet.note });
    if (quiet.isEmpty()) return portfolios;
  }
  if (known.every(({ isComplete }) => isComplete))
    return walk(records, starts, { splits: histories[0] ?? [], prices, note });
  const splits = histories.reduce((longest, history) => (history.length > longest.length ? history : longest), []);
  return walk(records, starts, { splits, prices, note: (sentence) => note(sentence, { isComplete: false }) });
}

/** Every way in which the splits may have been known; the likeliest first. */
function historiesOf(known: readonly (SplitVersion | null)[][]): SplitVersion[][] {
  return known.reduce<SplitVersion[][]>(
    (histories, choices) =>
      histories
        .flatMap((history) => choices.map((split) => (split === null ? history : [...history, split])))
        .slice(0, MAX_HISTORIES),
    [[]],
  );
}

function walk(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { splits, prices, note }: { splits: readonly SplitVersion[]; prices: PricesAsOf; note: Note },
): Portfolio[][] {
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
    const act = actOf(record, { split: splits[index], later, prices, note: noteHere });
    before = afterRecord(record, before.map(act), noteHere);
    return before as Portfolio[];
  });
  skipTo(splits.length);
  return after;
}

function actOf(
  record: LedgerRecord,
  {
    split,
    later,
    prices,
    note,
  }: { split: SplitVersion | undefined; later: readonly SplitVersion[]; prices: PricesAsOf; note: Note },
): Act {
  if (split === undefined) return refuse(`no split of ${record.symbol} was known`);
  const { symbol } = split;
  const price = priceOf(record, { asOf: inShares(prices.morningMark(symbol), later), note });
  if (price === null) return refuse('it has no price');
  return (before) => {
    const { portfolio, added } = applySplit(before, { ...split, price });
    if (added === record.amount) return portfolio;
    const by = `${nameOf(split)} of ${quantityOf(before, symbol)}`;
    return { sentence: `amount of ${symbol} is ${record.amount}, the split ${by} adds ${added}`, isComplete: true };
  };
}

/** Fractions are paid at the morning's mark, brought back to the shares of this split where others follow it. */
function inShares(mark: AsOf<Money | null>, later: readonly SplitVersion[]): AsOf<Money | null> {
  const ratio = later.reduce((product, { numerator, denominator }) => product * (numerator / denominator), 1);
  const convert = (value: Money | null) => (value === null ? null : money(Math.round(value * ratio)));
  return {
    likeliest: convert(mark.likeliest),
    *all() {
      for (const value of mark.all()) yield convert(value);
    },
    isComplete: () => mark.isComplete(),
  };
}

function nameOf({ numerator, denominator }: { numerator: number; denominator: number }): string {
  return `${numerator}:${denominator}`;
}
